/** The vectors that the runners of all languages share. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { messagesDigest } from "../src/antiphon/index.js";
import { CompileResponse } from "../src/gen/antiphon/compiler/v1/compiler_service.js";
import { ScenarioFailure } from "../src/scenarios/failure.js";
import { type Json } from "../src/scenarios/json.js";
import { mismatch } from "../src/scenarios/matching.js";
import { encodeJson } from "../src/scenarios/schema.js";
import { Transcript } from "../src/scenarios/transcript.js";
import { Variables } from "../src/scenarios/values.js";

/** Seen from build/test. */
const VECTORS = new URL("../../../../tests/contract/scenarios/vectors/", import.meta.url);

function vectorsOf<Vector>(name: string): (Vector & { about: string })[] {
  const text = readFileSync(new URL(name, VECTORS), "utf8");
  return JSON.parse(text) as (Vector & { about: string })[];
}

interface ValueVector {
  variables: Record<string, string>;
  value: Json;
  expected?: boolean;
  made?: Json;
  fails?: boolean;
}

for (const vector of vectorsOf<ValueVector>("values.json")) {
  test(`values: ${vector.about}`, () => {
    const variables = new Variables();
    Object.entries(vector.variables).forEach(([name, text]) => {
      variables.set(name, text);
    });
    const make = (): unknown =>
      vector.expected === true
        ? variables.expectation(vector.value)
        : variables.request(vector.value);
    if (vector.fails === true) {
      assert.throws(make, ScenarioFailure);
    } else {
      // By way of its text: matchers are written as the scenario has them.
      assert.deepEqual(JSON.parse(JSON.stringify(make())), vector.made);
    }
  });
}

interface MatchingVector {
  expected: Json;
  actual?: Json;
  matches: boolean;
  pointer?: string;
}

for (const vector of vectorsOf<MatchingVector>("matching.json")) {
  test(`matching: ${vector.about}`, () => {
    const found = mismatch(new Variables().expectation(vector.expected), vector.actual);
    assert.equal(found === undefined, vector.matches);
    assert.equal(found?.pointer, vector.pointer);
  });
}

interface TranscriptVector {
  volatile: string[];
  answers: { step: number; reply: number | "error"; value: Json }[];
  lines: string[];
  digest: string;
}

for (const vector of vectorsOf<TranscriptVector>("transcripts.json")) {
  test(`transcripts: ${vector.about}`, () => {
    const transcript = new Transcript(new Set(vector.volatile));
    vector.answers.forEach(({ step, reply, value }) => {
      transcript.add(step, reply, value);
    });
    assert.deepEqual(transcript.text().split("\n").slice(0, -1), vector.lines);
    assert.equal(transcript.digest(), vector.digest);
  });
}

interface DigestVector {
  response: Json;
  digest: string;
}

for (const vector of vectorsOf<DigestVector>("digests.json")) {
  test(`digests: ${vector.about}`, () => {
    const encoded = encodeJson("antiphon.compiler.v1.CompileResponse", vector.response);
    const { messages, systemText } = CompileResponse.decode(encoded);
    assert.equal(messagesDigest(messages, systemText), vector.digest);
  });
}

test("digests: content that this version does not know has none", () => {
  assert.throws(() => messagesDigest([{ role: 3, content: undefined }]));
  const parts = { parts: [{ part: undefined }] };
  assert.throws(() => messagesDigest([{ role: 3, content: { $case: "parts", value: parts } }]));
});
