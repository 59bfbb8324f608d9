import assert from "node:assert/strict";
import { test } from "node:test";

import { newRequestId } from "../src/antiphon/index.js";

test("request ids are canonical UUIDs of version 7, each another", () => {
  const ids = Array.from({ length: 200 }, newRequestId);
  for (const id of ids) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  assert.equal(new Set(ids).size, ids.length);
});

test("request ids begin with the time in milliseconds", () => {
  const before = Date.now();
  const time = Number.parseInt(newRequestId().replaceAll("-", "").slice(0, 12), 16);
  assert.ok(before <= time && time <= Date.now(), `${time} is not the present`);
});
