import assert from "node:assert/strict";
import { test } from "node:test";

import { parseOptions, UsageError } from "../src/scenarios/options.js";

const PAIR = ["--history", "127.0.0.1:1", "--compiler", "127.0.0.1:2"];

test("the command line has the addresses, and may have the rest", () => {
  const least = parseOptions(PAIR);
  assert.equal(least.history, "127.0.0.1:1");
  assert.equal(least.compiler, "127.0.0.1:2");
  assert.equal(least.only, undefined);
  assert.equal(least.transcripts, undefined);
  assert.match(least.scenarios, /tests\/contract\/scenarios$/);

  const rest = ["--only", "a", "b", "--transcripts", "out", "--scenarios", "in"];
  const all = parseOptions([...PAIR, ...rest]);
  assert.deepEqual(all.only, ["a", "b"]);
  assert.equal(all.transcripts, "out");
  assert.equal(all.scenarios, "in");
});

for (const args of [
  [],
  ["--history", "127.0.0.1:1"],
  [...PAIR, "--unknown"],
  [...PAIR, "name"],
  [...PAIR, "--only"],
]) {
  test(`wrong usage: ${args.join(" ") || "nothing"}`, () => {
    assert.throws(() => parseOptions(args), UsageError);
  });
}
