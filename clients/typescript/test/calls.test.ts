import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";

import { credentials, type ServerWritableStream } from "@grpc/grpc-js";

import { AntiphonError, frames } from "../src/antiphon/index.js";
import {
  HistoryServiceClient,
  WatchBranchRequest,
  WatchBranchResponse,
} from "../src/gen/antiphon/history/v1/history_service.js";
import { errorInfo, serviceError } from "./support/errors.js";
import { serveHistory } from "./support/servers.js";

type WatchCall = ServerWritableStream<WatchBranchRequest, WatchBranchResponse>;

const HEARTBEAT = WatchBranchResponse.create({
  frame: { $case: "heartbeat", value: { revision: 1n } },
});

async function clientOf(
  t: TestContext,
  watchBranch: (call: WatchCall) => void,
): Promise<HistoryServiceClient> {
  const server = await serveHistory({ watchBranch });
  const client = new HistoryServiceClient(server.address, credentials.createInsecure());
  t.after(() => {
    client.close();
    server.stop();
  });
  return client;
}

test("an error that comes before anybody reads is not lost", async (t) => {
  const client = await clientOf(t, (call) => {
    call.emit("error", serviceError(5, [errorInfo("BRANCH_NOT_FOUND")]));
  });
  const call = client.watchBranch(WatchBranchRequest.create());
  const stream = frames(call);
  await new Promise((resolve) => call.on("status", resolve));
  await assert.rejects(
    stream.next(),
    (error) => error instanceof AntiphonError && error.reason === "BRANCH_NOT_FOUND",
  );
});

test("the frames before an error are read first", async (t) => {
  const client = await clientOf(t, (call) => {
    call.write(HEARTBEAT);
    call.write(HEARTBEAT);
    call.emit("error", serviceError(9, [errorInfo("BRANCH_DELETED")]));
  });
  const read: WatchBranchResponse[] = [];
  await assert.rejects(async () => {
    for await (const frame of frames(client.watchBranch(WatchBranchRequest.create()))) {
      read.push(frame);
    }
  }, AntiphonError);
  assert.deepEqual(read, [HEARTBEAT, HEARTBEAT]);
});

test("a consumer that leaves cancels the call", async (t) => {
  let cancelled: Promise<unknown> | undefined;
  const client = await clientOf(t, (call) => {
    cancelled = once(call, "cancelled");
    call.write(HEARTBEAT);
  });
  for await (const frame of frames(client.watchBranch(WatchBranchRequest.create()))) {
    assert.deepEqual(frame, HEARTBEAT);
    break;
  }
  assert.ok(cancelled !== undefined);
  await cancelled;
});
