/** The JSON of scenarios, to and from the generated types. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

import { ScenarioFailure } from "../src/scenarios/failure.js";
import { type Json } from "../src/scenarios/json.js";
import { methodNamed, methodNames } from "../src/scenarios/methods.js";
import { decodeToJson, encodeJson } from "../src/scenarios/schema.js";

const MESSAGE = "antiphon.message.v1.Message";
const ADD = methodNamed("antiphon.history.v1.HistoryService/AddMessages");

const EVERYTHING: Json = {
  id: "0a0a0a0a-0000-4000-8000-000000000001",
  createdAt: "2024-05-06T07:08:09.123456789Z",
  sender: { role: "ROLE_USER" },
  recipient: { unset: {} },
  channel: "",
  metadataJson: '{"n": 9007199254740993}',
  status: "MESSAGE_STATUS_INTERRUPTED",
  instruction: {
    instruction: "",
    guidanceJson: "[]",
    promptContextJson: ["1.0", '"é"'],
    imageDetail: "IMAGE_DETAIL_HIGH",
    blocks: [{ image: { mimeType: "image/png", data: "AP/+" } }, { text: {} }],
  },
};

test("JSON goes through the generated types and comes back as it was", () => {
  const request = { branchId: "b", messages: [EVERYTHING], expectedRevision: "9007199254740993" };
  const encoded = ADD.encodeRequest(ADD.request(request));
  assert.deepEqual(decodeToJson("antiphon.history.v1.AddMessagesRequest", encoded), request);
});

test("times are written with none, three, six or nine digits", () => {
  for (const digits of ["", ".100", ".000001", ".000000001"]) {
    const json = { createdAt: `2024-05-06T07:08:09${digits}Z` };
    assert.deepEqual(decodeToJson(MESSAGE, encodeJson(MESSAGE, json)), json);
  }
});

test("an enum's unknown number is a number", () => {
  assert.deepEqual(decodeToJson(MESSAGE, Buffer.from("18e707", "hex")), { role: 999 });
});

const REFUSED: Record<string, Json> = {
  "a misspelt member": { chanel: "x" },
  "a misspelt member of its default value": { chanel: "" },
  "a misspelt member deep inside": { instruction: { blocks: [{ text: { txt: "" } }] } },
  "an unknown name of an enum": { status: "MESSAGE_STATUS_GONE" },
  "two variants of one oneof": { instruction: {}, generic: {} },
  "a number for a text": { channel: 1 },
  "a lone surrogate": { channel: "\ud800" },
  "a list for an object": [],
};

for (const [what, json] of Object.entries(REFUSED)) {
  test(`${what} is refused`, () => {
    assert.throws(() => encodeJson(MESSAGE, json), ScenarioFailure);
  });
}

test("every method of the contract is known, and no other", () => {
  const file = new URL("../../src/gen/antiphon.binpb", import.meta.url);
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(file));
  const methods = set.file.flatMap((proto) =>
    proto.service.flatMap((service) =>
      service.method.map(({ name }) => `${proto.package}.${service.name}/${name}`),
    ),
  );
  assert.ok(methods.length > 0);
  assert.deepEqual(methodNames().toSorted(), methods.toSorted());
  assert.throws(() => methodNamed("antiphon.history.v1.HistoryService/Forget"), ScenarioFailure);
});
