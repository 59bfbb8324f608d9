/** The digests that the runner checks by itself. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import {
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";

import { messagesDigest } from "../src/antiphon/index.js";
import { type CompiledMessage } from "../src/gen/antiphon/compiler/v1/compiled_message.js";
import {
  type CompileRequest,
  CompileResponse,
  Result,
  type StreamCompileRequest,
  type StreamCompileResponse,
} from "../src/gen/antiphon/compiler/v1/compiler_service.js";
import { Branch } from "../src/gen/antiphon/history/v1/branch.js";
import {
  type ReadSnapshotRequest,
  type ReadSnapshotResponse,
  SnapshotHeader,
} from "../src/gen/antiphon/history/v1/history_service.js";
import { Role } from "../src/gen/antiphon/message/v1/message.js";
import { type Json } from "../src/scenarios/json.js";
import { run } from "./support/run.js";

const HISTORY = "antiphon.history.v1.HistoryService";
const COMPILER = "antiphon.compiler.v1.CompilerService";
const MESSAGES: CompiledMessage[] = [
  { role: Role.ROLE_USER, content: { $case: "text", value: "hello" } },
];
const DIGEST = messagesDigest(MESSAGES);
const OTHER_DIGEST = messagesDigest([]);

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function compiling(response: Partial<CompileResponse>): UntypedServiceImplementation {
  return {
    compile: (
      _: ServerUnaryCall<CompileRequest, CompileResponse>,
      done: sendUnaryData<CompileResponse>,
    ): void => {
      done(null, CompileResponse.create({ messages: MESSAGES, ...response }));
    },
  };
}

const COMPILE: Json = { call: `${COMPILER}/Compile`, request: {} };

test("the digests of a compilation are checked", async (t) => {
  const plain = await run(t, compiling({ messagesDigest: DIGEST }), [COMPILE]);
  assert.equal(plain.fault, undefined);
  assert.equal(plain.digests, 1);
  const providerRequestJson = "{}";
  const requestDigest = sha256(providerRequestJson).toString("hex");
  const projected = { messagesDigest: DIGEST, providerRequestJson, requestDigest };
  assert.equal((await run(t, compiling(projected), [COMPILE])).digests, 2);

  const system = { messagesDigest: DIGEST, systemText: "s" };
  const otherRequest = { ...projected, requestDigest: OTHER_DIGEST };
  const noRequestDigest = { messagesDigest: DIGEST, providerRequestJson };
  for (const wrong of [{ messagesDigest: OTHER_DIGEST }, system, otherRequest, noRequestDigest]) {
    const { fault } = await run(t, compiling(wrong), [COMPILE]);
    assert.match(fault ?? "", /computed [0-9a-f]{64}, got/);
  }
});

type Frame = NonNullable<StreamCompileResponse["frame"]>;

function streaming(frames: Frame[]): UntypedServiceImplementation {
  return {
    streamCompile: (call: ServerWritableStream<StreamCompileRequest, StreamCompileResponse>) => {
      frames.forEach((frame) => call.write({ frame }));
      call.end();
    },
  };
}

const START: Frame = { $case: "messageStart", value: { index: 0n, role: Role.ROLE_USER } };
const HEL: Frame = { $case: "textChunk", value: { text: "hel" } };
const LO: Frame = { $case: "textChunk", value: { text: "lo" } };
const END: Frame = { $case: "messageEnd", value: { index: 0n } };
const REQUEST: Frame = { $case: "requestChunk", value: { text: "{" } };
const REQUEST_END: Frame = { $case: "requestChunk", value: { text: "}" } };

function result(more: Partial<Result>): Frame {
  const whole = { messagesDigest: DIGEST, messageCount: 1n, last: true, ...more };
  return { $case: "result", value: Result.create(whole) };
}

const PROJECTED = result({ requestDigest: sha256("{}").toString("hex") });

test("the digests of a streamed compilation are checked over its frames", async (t) => {
  const step = [{ call: `${COMPILER}/StreamCompile`, request: {} }];
  const report = result({ last: false });
  const whole = [START, HEL, LO, END, REQUEST, REQUEST_END, report, PROJECTED];
  const outcome = await run(t, streaming(whole), step);
  assert.equal(outcome.fault, undefined);
  assert.equal(outcome.digests, 2);
  const broken: Frame[][] = [
    [START, LO, HEL, END, result({})],
    [START, HEL, LO, END, REQUEST, PROJECTED],
    [START, HEL, LO, END],
    [START, HEL, LO, result({})],
    [START, HEL, LO, END, result({ last: false })],
    [START, HEL, LO, END, result({ messageCount: 2n })],
    [HEL, LO],
    [START, HEL, LO, END, result({}), result({})],
  ];
  for (const frames of broken) {
    assert.notEqual((await run(t, streaming(frames), step)).fault, undefined);
  }
});

test("pieces of parts are joined, and whole parts stay", async (t) => {
  const image = (url: string): Frame => ({
    $case: "partChunk",
    value: { partIndex: 1n, piece: { $case: "imageUrl", value: { url, detail: 1 } } },
  });
  const text = (piece: string): Frame => ({
    $case: "partChunk",
    value: { partIndex: 0n, piece: { $case: "text", value: piece } },
  });
  const json = { part: { $case: "json", value: { valueJson: "1" } } } as const;
  const whole: Frame = {
    $case: "partChunk",
    value: { partIndex: 2n, piece: { $case: "whole", value: json } },
  };
  const parts: CompiledMessage["content"] = {
    $case: "parts",
    value: {
      parts: [
        { part: { $case: "text", value: { text: "ab" } } },
        { part: { $case: "imageUrl", value: { url: "https://x", detail: 1 } } },
        json,
      ],
    },
  };
  const digest = messagesDigest([{ role: Role.ROLE_USER, content: parts }]);
  const pieces = [START, text("a"), text("b"), image("https"), image("://x"), whole, END];
  const frames = [...pieces, result({ messagesDigest: digest })];
  const step = [{ call: `${COMPILER}/StreamCompile`, request: {} }];
  const outcome = await run(t, streaming(frames), step);
  assert.equal(outcome.fault, undefined);
  assert.equal(outcome.digests, 1);
});

test("a snapshot's hash is checked, but of a delta", async (t) => {
  const readSnapshot = (
    call: ServerWritableStream<ReadSnapshotRequest, ReadSnapshotResponse>,
  ): void => {
    const header = SnapshotHeader.create({ branch: Branch.create() });
    const hash = sha256(call.request.branchId === "broken" ? "other" : "");
    call.write({ frame: { $case: "header", value: header } });
    call.write({ frame: { $case: "footer", value: { messageCount: 0n, sha256: hash } } });
    call.end();
  };
  const call = `${HISTORY}/ReadSnapshot`;
  const whole = await run(t, { readSnapshot }, [{ call, request: {}, expect: { count: 2 } }]);
  assert.equal(whole.fault, undefined);
  assert.equal(whole.digests, 1);
  const broken = await run(t, { readSnapshot }, [{ call, request: { branchId: "broken" } }]);
  assert.match(broken.fault ?? "", /do not match the hash/);
  const since = { branchId: "broken", sinceRevision: "1" };
  const delta = await run(t, { readSnapshot }, [{ call, request: since }]);
  assert.equal(delta.fault, undefined);
  assert.equal(delta.digests, 0);
});
