import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { credentials, type ServerWritableStream } from "@grpc/grpc-js";

import {
  AntiphonError,
  readSnapshot,
  SnapshotAssembler,
  SnapshotTruncatedError,
} from "../src/antiphon/index.js";
import { Branch } from "../src/gen/antiphon/history/v1/branch.js";
import {
  HistoryServiceClient,
  type ReadSnapshotRequest,
  ReadSnapshotResponse,
  SnapshotFrames,
  SnapshotHeader,
} from "../src/gen/antiphon/history/v1/history_service.js";
import { Message } from "../src/gen/antiphon/message/v1/message.js";
import { errorInfo, serviceError } from "./support/errors.js";
import { serveHistory } from "./support/servers.js";

const IDS = ["m1", "m2", "m3"];
/** Ends in a field that this version does not know: number 500, the varint 1. */
const MESSAGES = IDS.map((id) =>
  Buffer.concat([Message.encode(Message.create({ id })).finish(), Buffer.from("a01f01", "hex")]),
);
const SHA256 = createHash("sha256").update(Buffer.concat(MESSAGES)).digest();

type Frame = NonNullable<ReadSnapshotResponse["frame"]>;

const HEADER: Frame = {
  $case: "header",
  value: SnapshotHeader.create({
    branch: Branch.create({ branchId: "b" }),
    incarnation: "i",
    revision: 7n,
    messageCount: 3n,
    system: Message.create({ id: "s" }),
  }),
};
const ORDER: Frame = { $case: "order", value: { messageIds: IDS } };
const BATCH_1: Frame = { $case: "batch", value: { messages: MESSAGES.slice(0, 2) } };
const BATCH_2: Frame = { $case: "batch", value: { messages: MESSAGES.slice(2) } };
const FOOTER: Frame = { $case: "footer", value: { messageCount: 3n, sha256: SHA256 } };
const WHOLE = [HEADER, ORDER, BATCH_1, BATCH_2, FOOTER];

function assemble(frames: (Frame | undefined)[]): ReturnType<SnapshotAssembler["finish"]> {
  const assembler = new SnapshotAssembler();
  for (const frame of frames) {
    assembler.add({ frame });
  }
  return assembler.finish();
}

function joined(...frames: Frame[]): Frame {
  const value = SnapshotFrames.create();
  for (const frame of frames) {
    switch (frame.$case) {
      case "header":
        value.header = frame.value;
        break;
      case "order":
        value.orders.push(frame.value);
        break;
      case "batch":
        value.batches.push(frame.value);
        break;
      case "footer":
        value.footer = frame.value;
        break;
      case "delta":
        value.deltas.push(frame.value);
        break;
      case "joined":
        assert.fail("joined frames are not joined again");
    }
  }
  return { $case: "joined", value };
}

function footer(messageCount: bigint, sha256: Uint8Array): Frame {
  return { $case: "footer", value: { messageCount, sha256 } };
}

test("a whole snapshot is verified over the bytes as they came", () => {
  const snapshot = assemble(WHOLE);
  assert.equal(snapshot.branch.branchId, "b");
  assert.equal(snapshot.incarnation, "i");
  assert.equal(snapshot.revision, 7n);
  assert.equal(snapshot.system?.id, "s");
  assert.deepEqual(
    snapshot.messages.map(({ id }) => id),
    IDS,
  );
});

const joining: Record<string, Frame[]> = {
  "all joined": [joined(...WHOLE)],
  "some joined": [HEADER, joined(ORDER, BATCH_1), joined(), joined(BATCH_2, FOOTER)],
};

for (const [what, frames] of Object.entries(joining)) {
  test(`a snapshot with ${what} is the same`, () => {
    assert.deepEqual(assemble(frames), assemble(WHOLE));
  });
}

const other = createHash("sha256").update("other").digest();
const broken: Record<string, (Frame | undefined)[]> = {
  "no frames": [],
  "no header": [ORDER, BATCH_1, BATCH_2, FOOTER],
  "two headers": [HEADER, ...WHOLE],
  "no footer": WHOLE.slice(0, -1),
  "a batch after the footer": [...WHOLE, BATCH_1],
  "a batch missing": [HEADER, ORDER, BATCH_1, FOOTER],
  "batches exchanged": [HEADER, ORDER, BATCH_2, BATCH_1, FOOTER],
  "another hash": [HEADER, ORDER, BATCH_1, BATCH_2, footer(3n, other)],
  "another count": [HEADER, ORDER, BATCH_1, BATCH_2, footer(2n, SHA256)],
  "no order": [HEADER, BATCH_1, BATCH_2, FOOTER],
  "an order after messages": [HEADER, BATCH_1, ORDER, BATCH_2, FOOTER],
  "another order": [
    HEADER,
    { $case: "order", value: { messageIds: ["m2", "m1", "m3"] } },
    BATCH_1,
    BATCH_2,
    FOOTER,
  ],
  "bytes that are no message": [
    HEADER,
    ORDER,
    { $case: "batch", value: { messages: [Buffer.from([0x0a])] } },
  ],
  "a delta": [HEADER, { $case: "delta", value: { runs: [] } }],
  "an unknown frame": [HEADER, undefined],
  "joined frames that have no header": [joined(...WHOLE.slice(1))],
  "joined frames that have no footer": [joined(...WHOLE.slice(0, -1))],
  "joined frames after the footer": [joined(...WHOLE), joined(...WHOLE)],
  "a delta that is joined": [joined(...WHOLE, { $case: "delta", value: { runs: [] } })],
};

for (const [what, frames] of Object.entries(broken)) {
  test(`a snapshot with ${what} is refused`, () => {
    assert.throws(() => assemble(frames), SnapshotTruncatedError);
  });
}

test("an altered byte is found", () => {
  const altered = Buffer.from(MESSAGES[2] ?? []);
  altered.writeUInt8(2, altered.length - 1);
  const batch: Frame = { $case: "batch", value: { messages: [altered] } };
  assert.throws(() => assemble([HEADER, ORDER, BATCH_1, batch, FOOTER]), /do not match the hash/);
});

test("a snapshot is read from a server, and its error is typed", async (t) => {
  const requests: ReadSnapshotRequest[] = [];
  const server = await serveHistory({
    readSnapshot: (call: ServerWritableStream<ReadSnapshotRequest, ReadSnapshotResponse>) => {
      requests.push(call.request);
      if (call.request.branchId !== "b") {
        call.emit("error", serviceError(5, [errorInfo("BRANCH_NOT_FOUND")]));
        return;
      }
      const frames = call.request.takesJoined ? [joined(...WHOLE)] : WHOLE;
      frames.forEach((frame) => call.write(ReadSnapshotResponse.create({ frame })));
      call.end();
    },
  });
  const history = new HistoryServiceClient(server.address, credentials.createInsecure());
  t.after(() => {
    history.close();
    server.stop();
  });

  const progression = { messageIds: [] };
  const snapshot = await readSnapshot(history, { branchId: "b", atRevision: 7n, progression });
  assert.equal(snapshot.messages.length, 3);
  assert.equal(requests[0]?.takesJoined, true);
  assert.equal(requests[0].atRevision, 7n);
  assert.deepEqual(requests[0].progression?.messageIds, []);
  await assert.rejects(
    readSnapshot(history, { branchId: "x" }),
    (error) => error instanceof AntiphonError && error.reason === "BRANCH_NOT_FOUND",
  );
  assert.equal(requests[1]?.progression, undefined);
});
