import { type ClientReadableStream, type ServiceError } from "@grpc/grpc-js";

import { AntiphonError } from "./errors.js";

/**
 * Makes a promise of one call of a generated client that answers once.
 *
 * @example
 * const reply = await unary<GetBranchResponse>((done) => history.getBranch(request, done));
 *
 * @param start Starts the call with the callback it is given.
 * @throws {AntiphonError} The call was answered with an error.
 */
export function unary<Reply>(
  start: (done: (error: ServiceError | null, reply: Reply) => void) => unknown,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    start((error, reply) => {
      if (error === null) {
        resolve(reply);
      } else {
        reject(AntiphonError.from(error));
      }
    });
  });
}

/**
 * Yields the frames of a server's stream. A consumer that leaves the loop early
 * cancels the call. A slow consumer holds the server back and loses nothing.
 *
 * @param call A started call of a generated client.
 * @throws {AntiphonError} The stream broke off.
 */
export function frames<Frame>(call: ClientReadableStream<Frame>): AsyncGenerator<Frame, void> {
  // From now on, not from the first read: the call has begun, and an error that
  // comes before anybody reads would end the process, or be lost.
  const failures: unknown[] = [];
  call.on("error", (error) => failures.push(error));
  return read(call, failures);
}

async function* read<Frame>(
  call: ClientReadableStream<Frame>,
  failures: readonly unknown[],
): AsyncGenerator<Frame, void> {
  try {
    yield* call as AsyncIterable<Frame>;
    if (failures.length > 0) {
      throw failures[0];
    }
  } catch (error) {
    throw AntiphonError.from(error);
  } finally {
    // Ends a call that was left early; does nothing to one that has ended.
    call.cancel();
  }
}
