import { createHash } from "node:crypto";

import { messagesDigest, SnapshotAssembler, SnapshotTruncatedError } from "../antiphon/index.js";
import {
  type CompileResponse,
  type StreamCompileResponse,
} from "../gen/antiphon/compiler/v1/compiler_service.js";
import {
  type ReadSnapshotRequest,
  type ReadSnapshotResponse,
} from "../gen/antiphon/history/v1/history_service.js";
import { ScenarioFailure } from "./failure.js";
import { assemble, type StreamedCompilation } from "./streamedCompilation.js";

/**
 * Checks the digests that the answers of a call carry; the call ended OK and
 * was read to its end.
 *
 * @param method `package.Service/Method`.
 * @param request The request, of its generated type.
 * @param replies The replies, of their generated type.
 * @returns How many were checked.
 * @throws {ScenarioFailure} One is not that of the answers.
 */
export function checkDigests(
  method: string,
  request: unknown,
  replies: readonly unknown[],
): number {
  switch (method) {
    case "antiphon.compiler.v1.CompilerService/Compile":
      return checkCompilation(replies[0] as CompileResponse);
    case "antiphon.compiler.v1.CompilerService/StreamCompile":
      return checkCompilation(assemble(replies as readonly StreamCompileResponse[]));
    case "antiphon.history.v1.HistoryService/ReadSnapshot":
      return (request as ReadSnapshotRequest).sinceRevision === undefined
        ? checkSnapshot(replies as readonly ReadSnapshotResponse[])
        : 0;
    default:
      return 0;
  }
}

function checkCompilation(compilation: StreamedCompilation): number {
  const { messages, systemText, providerRequestJson } = compilation;
  checkEqual("/messagesDigest", messagesDigest(messages, systemText), compilation.messagesDigest);
  if (providerRequestJson === undefined) {
    return 1;
  }
  const digest = createHash("sha256").update(providerRequestJson, "utf8").digest("hex");
  checkEqual("/requestDigest", digest, compilation.requestDigest);
  return 2;
}

function checkSnapshot(frames: readonly ReadSnapshotResponse[]): number {
  const assembler = new SnapshotAssembler();
  try {
    frames.forEach((frame) => {
      assembler.add(frame);
    });
    assembler.finish();
  } catch (error) {
    if (error instanceof SnapshotTruncatedError) {
      throw new ScenarioFailure(error.message, { cause: error });
    }
    throw error;
  }
  return 1;
}

function checkEqual(pointer: string, computed: string, told: string | undefined): void {
  if (computed !== told) {
    throw new ScenarioFailure(`at ${pointer}: computed ${computed}, got ${told ?? "nothing"}`);
  }
}
