import { Metadata, type ServiceError, type status } from "@grpc/grpc-js";

import { type Any } from "../../src/gen/google/protobuf/any.js";
import { ErrorInfo } from "../../src/gen/google/rpc/error_details.js";
import { Status } from "../../src/gen/google/rpc/status.js";

/** Packs a detail of an error. */
export function packed<T>(
  typeName: string,
  type: { encode(message: T): { finish(): Uint8Array } },
  message: T,
): Any {
  return { typeUrl: `type.googleapis.com/${typeName}`, value: type.encode(message).finish() };
}

/** An error as gRPC hands it to a client, or a server to gRPC. */
export function serviceError(
  code: status,
  details: Any[],
  statusCode: number = code,
): ServiceError {
  const encoded = Status.encode({ code: statusCode, message: "in words", details }).finish();
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(encoded));
  return Object.assign(new Error("gRPC's words"), { code, details: "gRPC's words", metadata });
}

/** The detail that names a reason. */
export function errorInfo(reason: string, metadata: Record<string, string> = {}): Any {
  const info = { reason, domain: "antiphon.history", metadata };
  return packed("google.rpc.ErrorInfo", ErrorInfo, info);
}
