/** What the generated types must not lose: the options of buf.gen.yaml. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { CompileRequest } from "../src/gen/antiphon/compiler/v1/compiler_service.js";
import { RespondToActionRequest } from "../src/gen/antiphon/history/v1/history_service.js";
import { Message, MessageStatus, Role } from "../src/gen/antiphon/message/v1/message.js";

function again(encoded: Uint8Array): Buffer {
  return Buffer.from(Message.encode(Message.decode(encoded)).finish());
}

test("a time keeps its nanoseconds", () => {
  const createdAt = { seconds: 1_700_000_000n, nanos: 123_456_789 };
  const decoded = Message.decode(Message.encode(Message.create({ createdAt })).finish());
  assert.equal(decoded.createdAt?.seconds, 1_700_000_000n);
  assert.equal(decoded.createdAt.nanos, 123_456_789);
});

test("64-bit integers are exact", () => {
  const revision = 2n ** 53n + 1n;
  const encoded = RespondToActionRequest.encode(
    RespondToActionRequest.create({ expectedRevision: revision }),
  ).finish();
  assert.equal(RespondToActionRequest.decode(encoded).expectedRevision, revision);
});

test("absent, empty and default differ where the contract says so", () => {
  const absent = RespondToActionRequest.create({});
  const empty = RespondToActionRequest.create({
    outcome: { $case: "error", value: "" },
    expectedRevision: 0n,
    messageId: "",
  });
  assert.equal(RespondToActionRequest.encode(absent).finish().length, 0);
  const decoded = RespondToActionRequest.decode(RespondToActionRequest.encode(empty).finish());
  assert.deepEqual(decoded.outcome, { $case: "error", value: "" });
  assert.equal(decoded.expectedRevision, 0n);
  assert.equal(decoded.messageId, "");

  const selectsNothing = CompileRequest.create({ progression: { messageIds: [] } });
  const request = CompileRequest.decode(CompileRequest.encode(selectsNothing).finish());
  assert.deepEqual(request.progression?.messageIds, []);
  assert.equal(CompileRequest.decode(new Uint8Array()).progression, undefined);
});

test("numbers of enums that this version does not know are kept", () => {
  const role = Buffer.from("18e707", "hex");
  assert.equal(Message.decode(role).role, 999 as Role);
  assert.deepEqual(again(role), role);
  const known = Message.decode(Buffer.from("4002", "hex"));
  assert.equal(known.status, MessageStatus.MESSAGE_STATUS_EXCLUDED);
});

test("fields that this version does not know are kept", () => {
  const unknown = Buffer.from("0a016d" + "a01f01" + "a21f0161", "hex");
  assert.deepEqual(again(unknown), unknown);
  const nested = Buffer.from("4a04" + "a21f0162", "hex");
  assert.deepEqual(again(nested), nested);
});

test("text is kept to the byte, a leading U+FEFF and NUL too", () => {
  for (const text of ["\ufefftext", "a\0b", "e\u0301 é", "😀", " \r\n"]) {
    const message = Message.create({ channel: text });
    assert.equal(Message.decode(Message.encode(message).finish()).channel, text);
  }
});
