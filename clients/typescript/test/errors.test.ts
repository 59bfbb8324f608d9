import assert from "node:assert/strict";
import { test } from "node:test";

import { Metadata } from "@grpc/grpc-js";

import { AntiphonError, Status } from "../src/antiphon/index.js";
import { RevisionConflict } from "../src/gen/antiphon/history/v1/errors.js";
import { BadRequest, RetryInfo } from "../src/gen/google/rpc/error_details.js";
import { errorInfo, packed, serviceError } from "./support/errors.js";

test("an error has its reason, domain, metadata and revisions", () => {
  const conflict = { branchId: "b", expectedRevision: 1n, actualRevision: 2n ** 60n + 1n };
  const cause = serviceError(Status.ABORTED, [
    errorInfo("REVISION_CONFLICT", { actual: "2" }),
    packed("antiphon.history.v1.RevisionConflict", RevisionConflict, conflict),
  ]);
  const error = AntiphonError.from(cause);
  assert.equal(error.code, Status.ABORTED);
  assert.equal(error.codeName, "ABORTED");
  assert.equal(error.message, "in words");
  assert.equal(error.reason, "REVISION_CONFLICT");
  assert.equal(error.domain, "antiphon.history");
  assert.deepEqual([...error.metadata], [["actual", "2"]]);
  assert.equal(error.revisionConflict?.branchId, "b");
  assert.equal(error.revisionConflict.expectedRevision, 1n);
  assert.equal(error.revisionConflict.actualRevision, 2n ** 60n + 1n);
  assert.deepEqual(error.fields, []);
  assert.equal(error.retryDelayMs, undefined);
  assert.equal(error.cause, cause);
});

test("an error has its fields", () => {
  const violation = { field: "messages[3].id", description: "is no UUID", reason: "" };
  const details = [
    errorInfo("FIELD_INVALID"),
    packed(
      "google.rpc.BadRequest",
      BadRequest,
      BadRequest.create({ fieldViolations: [violation] }),
    ),
  ];
  const { fields } = AntiphonError.from(serviceError(Status.INVALID_ARGUMENT, details));
  assert.deepEqual(fields, [{ field: "messages[3].id", description: "is no UUID" }]);
});

test("an error says when to try again", () => {
  const retry = RetryInfo.create({ retryDelay: { seconds: 1n, nanos: 500_000_000 } });
  const details = [errorInfo("OVERLOADED"), packed("google.rpc.RetryInfo", RetryInfo, retry)];
  const error = AntiphonError.from(serviceError(Status.RESOURCE_EXHAUSTED, details));
  assert.equal(error.retryDelayMs, 1500);
});

test("an error without details has its code and gRPC's words", () => {
  const cause = Object.assign(new Error(), {
    code: Status.DEADLINE_EXCEEDED,
    details: "too late",
    metadata: new Metadata(),
  });
  const error = AntiphonError.from(cause);
  assert.equal(error.codeName, "DEADLINE_EXCEEDED");
  assert.equal(error.message, "too late");
  assert.equal(error.reason, undefined);
  assert.equal(error.metadata.size, 0);
});

test("details that are no status are not read", () => {
  const broken = serviceError(Status.ABORTED, []);
  broken.metadata.set("grpc-status-details-bin", Buffer.from([0xff, 0xff, 0xff]));
  assert.equal(AntiphonError.from(broken).reason, undefined);
});

test("details of another status are not this error's", () => {
  const details = [errorInfo("BRANCH_NOT_FOUND")];
  const error = AntiphonError.from(serviceError(Status.CANCELLED, details, Status.NOT_FOUND));
  assert.equal(error.reason, undefined);
  assert.equal(error.message, "gRPC's words");
});

test("what is no error of gRPC stays as it is", () => {
  for (const other of [new Error("other"), new TypeError(), "text", undefined]) {
    assert.equal(AntiphonError.from(other), other);
  }
  const already = new AntiphonError(Status.UNAVAILABLE, "gone");
  assert.equal(AntiphonError.from(already), already);
});
