import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { credentials, type ServerWritableStream } from "@grpc/grpc-js";

import { AntiphonError, UnknownChangeError, watchBranch } from "../src/antiphon/index.js";
import {
  BranchChange,
  BranchChangeKind,
  HistoryServiceClient,
  type WatchBranchRequest,
  WatchBranchResponse,
} from "../src/gen/antiphon/history/v1/history_service.js";
import { errorInfo, serviceError } from "./support/errors.js";
import { serveHistory } from "./support/servers.js";

type WatchCall = ServerWritableStream<WatchBranchRequest, WatchBranchResponse>;

/** What the server does with the first, second, ... connection of a watch. */
type Script = (call: WatchCall) => void;

interface Watched {
  readonly history: HistoryServiceClient;
  readonly requests: WatchBranchRequest[];
}

async function serveScript(t: TestContext, ...scripts: Script[]): Promise<Watched> {
  const requests: WatchBranchRequest[] = [];
  const server = await serveHistory({
    watchBranch: (call: WatchCall) => {
      const script = scripts[requests.length];
      requests.push(call.request);
      script?.(call);
    },
  });
  const history = new HistoryServiceClient(server.address, credentials.createInsecure());
  t.after(() => {
    history.close();
    server.stop();
  });
  return { history, requests };
}

function change(revision: bigint, more: Partial<BranchChange> = {}): WatchBranchResponse {
  const value = BranchChange.create({
    revision,
    incarnation: "i",
    kind: BranchChangeKind.BRANCH_CHANGE_KIND_MEMBERSHIP,
    ...more,
  });
  return WatchBranchResponse.create({ frame: { $case: "change", value } });
}

const DELETED = { kind: BranchChangeKind.BRANCH_CHANGE_KIND_DELETED };
const UNKNOWN = { kind: 99 as BranchChangeKind };

function sending(...frames: WatchBranchResponse[]): Script {
  return (call) => {
    frames.forEach((frame) => call.write(frame));
  };
}

function failing(script: Script, code: number, reason: string): Script {
  return (call) => {
    script(call);
    call.emit("error", serviceError(code, [errorInfo(reason)]));
  };
}

async function revisions(changes: AsyncIterable<BranchChange>): Promise<bigint[]> {
  const seen: bigint[] = [];
  for await (const { revision } of changes) {
    seen.push(revision);
  }
  return seen;
}

test("a watch that is cut goes on after the last change, each change once", async (t) => {
  const { history, requests } = await serveScript(
    t,
    failing(sending(change(1n), change(2n)), 14, "SHUTTING_DOWN"),
    (call) => {
      call.write(change(2n));
      call.write(change(3n));
      call.end();
    },
    sending(change(4n, DELETED)),
  );
  assert.deepEqual(await revisions(watchBranch(history, "b")), [1n, 2n, 3n, 4n]);
  assert.deepEqual(
    requests.map(({ branchId, afterRevision, incarnation }) => [
      branchId,
      afterRevision,
      incarnation,
    ]),
    [
      ["b", 0n, ""],
      ["b", 2n, "i"],
      ["b", 3n, "i"],
    ],
  );
});

test("a watch goes on after a revision that was seen elsewhere", async (t) => {
  const { history, requests } = await serveScript(t, sending(change(6n, DELETED)));
  const options = { afterRevision: 5n, incarnation: "i" };
  assert.deepEqual(await revisions(watchBranch(history, "b", options)), [6n]);
  assert.equal(requests[0]?.afterRevision, 5n);
  assert.equal(requests[0].incarnation, "i");
});

test("a cut before any change resumes where the watch began", async (t) => {
  const caughtUp = WatchBranchResponse.create({
    frame: { $case: "caughtUp", value: { revision: 5n } },
  });
  const { history, requests } = await serveScript(
    t,
    failing(sending(caughtUp), 14, "STORE_BUSY"),
    sending(change(6n, DELETED)),
  );
  assert.deepEqual(await revisions(watchBranch(history, "b", { afterRevision: 5n })), [6n]);
  assert.equal(requests[1]?.afterRevision, 5n);
});

for (const [code, reason] of [
  [9, "BRANCH_DELETED"],
  [11, "REVISION_EXPIRED"],
] as const) {
  test(`${reason} ends a watch`, async (t) => {
    const { history } = await serveScript(t, failing(sending(change(1n)), code, reason));
    await assert.rejects(
      revisions(watchBranch(history, "b")),
      (error) => error instanceof AntiphonError && error.reason === reason,
    );
  });
}

test("a watch that never connected is not tried again", async (t) => {
  const { history, requests } = await serveScript(t, failing(sending(), 14, "SHUTTING_DOWN"));
  await assert.rejects(revisions(watchBranch(history, "b")), AntiphonError);
  assert.equal(requests.length, 1);
});

test("an unknown change is skipped only where the server says so", async (t) => {
  const skipped = change(2n, { ...UNKNOWN, ignorable: true });
  const refused = change(3n, UNKNOWN);
  const { history } = await serveScript(t, sending(change(1n), skipped, refused));
  const changes = watchBranch(history, "b");
  assert.equal((await changes.next()).value?.revision, 1n);
  await assert.rejects(changes.next(), UnknownChangeError);
});

test("an unknown operation is an unknown change", async (t) => {
  const operations = [{ operation: undefined }];
  const { history } = await serveScript(t, sending(change(1n, { operations })));
  await assert.rejects(revisions(watchBranch(history, "b")), UnknownChangeError);
});

test("a signal ends a watch that waits", async (t) => {
  const { history } = await serveScript(t, sending(change(1n)));
  const controller = new AbortController();
  const seen: bigint[] = [];
  for await (const { revision } of watchBranch(history, "b", { signal: controller.signal })) {
    seen.push(revision);
    setImmediate(() => {
      controller.abort();
    });
  }
  assert.deepEqual(seen, [1n]);
});

test("a signal that aborted before makes no call", async (t) => {
  const { history, requests } = await serveScript(t);
  const signal = AbortSignal.abort();
  assert.deepEqual(await revisions(watchBranch(history, "b", { signal })), []);
  assert.equal(requests.length, 0);
});

test("a signal ends a watch that was cut", async (t) => {
  const { history, requests } = await serveScript(
    t,
    failing(sending(change(1n)), 14, "SHUTTING_DOWN"),
  );
  const controller = new AbortController();
  const changes = watchBranch(history, "b", { signal: controller.signal });
  assert.equal((await changes.next()).value?.revision, 1n);
  const next = changes.next();
  controller.abort();
  assert.equal((await next).done, true);
  assert.equal(requests.length, 1);
});
