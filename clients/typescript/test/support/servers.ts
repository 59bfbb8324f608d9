import { Server, ServerCredentials, type UntypedServiceImplementation } from "@grpc/grpc-js";

import { CompilerServiceService } from "../../src/gen/antiphon/compiler/v1/compiler_service.js";
import { HistoryServiceService } from "../../src/gen/antiphon/history/v1/history_service.js";

/** A server in this process, with as many methods as a test needs. */
export interface FakeServer {
  readonly address: string;
  /** Cuts every connection and stops. */
  stop(): void;
}

/** Serves some methods of the history service, on a loopback port unless one is given. */
export function serveHistory(
  methods: UntypedServiceImplementation,
  address?: string,
): Promise<FakeServer> {
  return serve((server) => {
    server.addService(HistoryServiceService, methods);
  }, address);
}

/** Serves some methods of the compiler service. */
export function serveCompiler(methods: UntypedServiceImplementation): Promise<FakeServer> {
  return serve((server) => {
    server.addService(CompilerServiceService, methods);
  });
}

function serve(add: (server: Server) => void, address = "127.0.0.1:0"): Promise<FakeServer> {
  const server = new Server();
  add(server);
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error !== null) {
        reject(error);
        return;
      }
      resolve({
        address: `127.0.0.1:${port}`,
        stop: () => {
          server.forceShutdown();
        },
      });
    });
  });
}
