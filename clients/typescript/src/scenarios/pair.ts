import { Client, type ClientReadableStream, credentials, Metadata } from "@grpc/grpc-js";

import { AntiphonError, frames, unary } from "../antiphon/index.js";
import { type Method, type Side } from "./methods.js";

/** One call as a step says it, its values made. */
export interface Call {
  readonly method: Method;
  /** Encoded requests: one, or any number for a client stream. */
  readonly requests: readonly Buffer[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Clients of a running pair. */
export class Pair {
  readonly #clients: Readonly<Record<Side, Client>>;

  /** @param addresses The address of each service, HOST:PORT or unix:PATH. */
  constructor(addresses: Readonly<Record<Side, string>>) {
    this.#clients = {
      history: new Client(addresses.history, credentials.createInsecure()),
      compiler: new Client(addresses.compiler, credentials.createInsecure()),
    };
  }

  /** Closes the connections. */
  close(): void {
    this.#clients.history.close();
    this.#clients.compiler.close();
  }

  /** Starts a call; its replies are read as they are wanted. */
  start(call: Call): Replies {
    const client = this.#clients[call.method.side];
    if (!call.method.serverStreams) {
      return new Replies(single(answerOnce(client, call)), ignore);
    }
    const stream = startStream(client, call);
    return new Replies(frames(stream), () => {
      stream.cancel();
    });
  }
}

/** The replies of one call: one, or those of a server's stream. */
export class Replies {
  /** How the call failed, as far as is known. */
  error: AntiphonError | undefined;
  /** Whether the end was read. */
  ended = false;

  constructor(
    readonly source: AsyncGenerator,
    readonly cancelCall: () => void,
  ) {}

  /** Reads so many more replies, fewer where the call ends before; without a count, all. */
  async read(count = Infinity): Promise<unknown[]> {
    const replies: unknown[] = [];
    while (!this.ended && replies.length < count) {
      try {
        const next = await this.source.next();
        if (next.done === true) {
          this.ended = true;
        } else {
          replies.push(next.value);
        }
      } catch (error) {
        if (!(error instanceof AntiphonError)) {
          throw error;
        }
        this.ended = true;
        this.error = error;
      }
    }
    return replies;
  }

  /** Ends the call from this side. */
  cancel(): void {
    this.ended = true;
    this.cancelCall();
  }
}

function answerOnce(client: Client, call: Call): Promise<unknown> {
  const { method, requests } = call;
  const [metadata, options] = contextOf(call);
  return unary((done) => {
    const answered = (error: Parameters<typeof done>[0], reply?: unknown): void => {
      done(error, reply);
    };
    const path = `/${method.name}`;
    if (!method.clientStreams) {
      const request = onlyRequest(call);
      const { decodeReply } = method;
      client.makeUnaryRequest(path, asIs, decodeReply, request, metadata, options, answered);
      return;
    }
    const stream = client.makeClientStreamRequest(
      path,
      asIs,
      method.decodeReply,
      metadata,
      options,
      answered,
    );
    requests.forEach((request) => stream.write(request));
    stream.end();
  });
}

function startStream(client: Client, call: Call): ClientReadableStream<unknown> {
  const { method } = call;
  const [metadata, options] = contextOf(call);
  return client.makeServerStreamRequest(
    `/${method.name}`,
    asIs,
    method.decodeReply,
    onlyRequest(call),
    metadata,
    options,
  );
}

function contextOf({ metadata, timeoutMs }: Call): [Metadata, { deadline: number }] {
  const headers = new Metadata();
  for (const [name, text] of Object.entries(metadata)) {
    headers.add(name, text);
  }
  return [headers, { deadline: Date.now() + timeoutMs }];
}

function onlyRequest({ method, requests }: Call): Buffer {
  const [request] = requests;
  if (request === undefined || requests.length !== 1) {
    throw new TypeError(`${method.name} takes one request`);
  }
  return request;
}

async function* single(answer: Promise<unknown>): AsyncGenerator {
  yield await answer;
}

/** The requests are encoded already, by their generated types or as the scenario's bytes. */
function asIs(encoded: Buffer): Buffer {
  return encoded;
}

function ignore(): void {
  // A call that answers once has ended when its answer was read.
}
