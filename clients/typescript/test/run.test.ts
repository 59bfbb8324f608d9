/** The runner against servers that answer what a test says. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  type sendUnaryData,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
} from "@grpc/grpc-js";

import {
  type AssembleResponseRequest,
  AssembleResponseResponse,
} from "../src/gen/antiphon/compiler/v1/provider.js";
import { Branch } from "../src/gen/antiphon/history/v1/branch.js";
import {
  type GetBranchRequest,
  type GetBranchResponse,
  type WatchBranchRequest,
  type WatchBranchResponse,
} from "../src/gen/antiphon/history/v1/history_service.js";
import { type Json } from "../src/scenarios/json.js";
import { errorInfo, serviceError } from "./support/errors.js";
import { run, scenarioOf } from "./support/run.js";

const HISTORY = "antiphon.history.v1.HistoryService";
const COMPILER = "antiphon.compiler.v1.CompilerService";

const getBranch = (
  call: ServerUnaryCall<GetBranchRequest, GetBranchResponse>,
  done: sendUnaryData<GetBranchResponse>,
): void => {
  const { branchId, atRevision } = call.request;
  if (branchId === "none") {
    done(serviceError(5, [errorInfo("BRANCH_NOT_FOUND", { branch_id: branchId })]));
    return;
  }
  const [header] = call.metadata.get("x-key");
  const externalKey = typeof header === "string" ? header : undefined;
  const branch = Branch.create({
    branchId,
    revision: atRevision ?? 0n,
    incarnation: "i",
    externalKey,
  });
  done(null, { branch });
};

const READ: Json = { call: `${HISTORY}/GetBranch`, request: { branchId: "b", atRevision: "7" } };

test("answers are matched, kept and written down", async (t) => {
  const outcome = await run(t, { getBranch }, [
    {
      call: `${HISTORY}/GetBranch`,
      request: { branchId: "b", atRevision: "7" },
      metadata: { "x-key": "k" },
      expect: { reply: { branch: { revision: "7", externalKey: "k" } } },
      save: { id: "/branch/branchId" },
    },
    { call: `${HISTORY}/GetBranch`, request: { branchId: "${id}2" } },
    { call: `${HISTORY}/GetBranch`, request_hex: "0a016d", expect: { reply: { branch: {} } } },
    {
      call: `${HISTORY}/GetBranch`,
      request: { branchId: "none" },
      expect: {
        error: {
          code: "NOT_FOUND",
          reason: "BRANCH_NOT_FOUND",
          metadata: { branch_id: "none" },
          details: { "google.rpc.ErrorInfo": { reason: "BRANCH_NOT_FOUND" } },
          retry: false,
        },
      },
    },
  ]);
  assert.equal(outcome.fault, undefined);
  assert.deepEqual(outcome.transcript.text().split("\n"), [
    "0\t0\t/branch/branchId\ts\tb",
    "0\t0\t/branch/externalKey\ts\tk",
    "0\t0\t/branch/incarnation\ts\t<incarnation>",
    "0\t0\t/branch/revision\ts\t7",
    "1\t0\t/branch/branchId\ts\tb2",
    "1\t0\t/branch/incarnation\ts\t<incarnation>",
    "2\t0\t/branch/branchId\ts\tm",
    "2\t0\t/branch/incarnation\ts\t<incarnation>",
    "3\terror\t/code\ts\tNOT_FOUND",
    "3\terror\t/domain\ts\tantiphon.history",
    "3\terror\t/metadata/branch_id\ts\tnone",
    "3\terror\t/reason\ts\tBRANCH_NOT_FOUND",
    "",
  ]);
});

const FAILING: Record<string, [Json, RegExp]> = {
  "another value": [
    { ...(READ as object), expect: { reply: { branch: { revision: "8" } } } },
    /^step 0, call .*\/GetBranch: at \/branch\/revision: expected "8", got "7"$/,
  ],
  "an error that was not expected": [
    { call: `${HISTORY}/GetBranch`, request: { branchId: "none" } },
    /expected no error, got .*BRANCH_NOT_FOUND/,
  ],
  "no error where one was expected": [
    { ...(READ as object), expect: { error: { code: "ABORTED" } } },
    /at \/error: .* 1 replies and no error/,
  ],
  "another reason": [
    {
      call: `${HISTORY}/GetBranch`,
      request: { branchId: "none" },
      expect: { error: { reason: "BRANCH_DELETED" } },
    },
    /at \/error\/reason/,
  ],
  "a misspelt member of an expectation": [
    { ...(READ as object), expect: { replay: {} } },
    /an expectation has no replay/,
  ],
  "a misspelt member of an expected error": [
    { call: `${HISTORY}/GetBranch`, request: { branchId: "none" }, expect: { error: { cod: "" } } },
    /an error has no cod/,
  ],
  "a misspelt member of a request": [
    { call: `${HISTORY}/GetBranch`, request: { branchID: "b" } },
    /no antiphon\.history\.v1\.GetBranchRequest/,
  ],
  "an unknown method": [{ call: `${HISTORY}/Forget`, request: {} }, /there is no method/],
  "nothing to send": [{ call: `${HISTORY}/GetBranch` }, /one of request, requests/],
  "a pointer to nothing": [{ ...(READ as object), save: { x: "/no" } }, /at \/no/],
  "a stream that is not open": [{ read: "w" }, /no stream w/],
};

for (const [what, [step, message]] of Object.entries(FAILING)) {
  test(`${what} fails the scenario`, async (t) => {
    const outcome = await run(t, { getBranch }, [step, READ]);
    assert.match(outcome.fault ?? "", message);
  });
}

for (const step of [{ call: "x", requst: {} }, { read: "w", take: 1 }, {}, { open: "w" }, "step"]) {
  test(`${JSON.stringify(step)} is no step`, () => {
    assert.throws(() => scenarioOf([step]));
  });
}

function heartbeat(revision: bigint): WatchBranchResponse {
  return { frame: { $case: "heartbeat", value: { revision } } };
}

const watchBranch = (call: ServerWritableStream<WatchBranchRequest, WatchBranchResponse>): void => {
  call.write(heartbeat(1n));
  call.write(heartbeat(2n));
  if (call.request.branchId === "cut") {
    call.emit("error", serviceError(9, [errorInfo("BRANCH_DELETED")]));
  } else if (call.request.branchId === "ends") {
    call.end();
  }
};

const WATCH = `${HISTORY}/WatchBranch`;
const FIRST: Json = { heartbeat: { revision: "1" } };
const SECOND: Json = { heartbeat: { revision: "2" } };

test("streams are opened, read in pieces, cancelled, and taken of", async (t) => {
  const outcome = await run(t, { watchBranch }, [
    { open: "w", call: WATCH, request: {} },
    { read: "w", count: 1, expect: { replies: [FIRST] }, save: { r: "/0/heartbeat/revision" } },
    { read: "w", count: 1, expect: { replies: [{ heartbeat: { revision: "2" } }] } },
    { cancel: "w" },
    { call: WATCH, request: { branchId: "${r}" }, take: 1, expect: { count: 1 } },
    {
      call: WATCH,
      request: { branchId: "cut" },
      expect: { replies: [FIRST, SECOND], error: { reason: "BRANCH_DELETED" } },
    },
    { open: "left", call: WATCH, request: {} },
  ]);
  assert.equal(outcome.fault, undefined);
  const text = outcome.transcript.text();
  assert.match(text, /^2\t0\t\/heartbeat\/revision\ts\t2$/m);
  assert.match(text, /^5\t1\t.*\n5\terror\t\/code\ts\tFAILED_PRECONDITION$/m);
});

test("fewer replies than wanted fail the scenario, and a deadline is an error", async (t) => {
  const fewer = await run(t, { watchBranch }, [
    { call: WATCH, request: { branchId: "ends" }, take: 3 },
  ]);
  assert.match(fewer.fault ?? "", /expected 3 replies, got 2/);
  const late = await run(t, { watchBranch }, [
    {
      call: WATCH,
      request: {},
      timeout_ms: 300,
      expect: { count: 2, error: { code: "DEADLINE_EXCEEDED", reason: { $absent: true } } },
    },
  ]);
  assert.equal(late.fault, undefined);
});

test("a client's stream sends every request", async (t) => {
  const assembleResponse = (
    call: ServerReadableStream<AssembleResponseRequest, AssembleResponseResponse>,
    done: sendUnaryData<AssembleResponseResponse>,
  ): void => {
    let count = 0;
    call.on("data", () => (count += 1));
    call.on("end", () => {
      done(null, AssembleResponseResponse.create({ refusal: String(count) }));
    });
  };
  const call = `${COMPILER}/AssembleResponse`;
  const outcome = await run(t, { assembleResponse }, [
    { call, requests: { $list: [3, {}] }, expect: { reply: { refusal: "3" } } },
    { call, requests: [], expect: { reply: { refusal: "0" } } },
  ]);
  assert.equal(outcome.fault, undefined);
});
