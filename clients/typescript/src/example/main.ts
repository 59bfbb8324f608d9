/**
 * A conversation that two programs share: append, watch, compile, meet another
 * writer, watch on.
 *
 *     node build/src/example/main.js HISTORY COMPILER
 *
 * HISTORY and COMPILER are the addresses of a running pair, each HOST:PORT or
 * unix:PATH.
 *
 * @module
 */

import { credentials } from "@grpc/grpc-js";

import { AntiphonError, newRequestId, unary, watchBranch } from "../antiphon/index.js";
import {
  CompileRequest,
  type CompileResponse,
  CompilerServiceClient,
  Profile,
} from "../gen/antiphon/compiler/v1/compiler_service.js";
import {
  AddMessagesRequest,
  type AddMessagesResponse,
  type BranchChange,
  CreateBranchRequest,
  type CreateBranchResponse,
  GetBranchRequest,
  type GetBranchResponse,
  HistoryServiceClient,
} from "../gen/antiphon/history/v1/history_service.js";
import { Message } from "../gen/antiphon/message/v1/message.js";

const system = Message.create({
  content: { $case: "system", value: { systemMessage: "You are a gardener." } },
});
const question = Message.create({
  content: { $case: "instruction", value: { instruction: "When do I plant tulips?" } },
});
const answer = Message.create({
  content: {
    $case: "assistantResponse",
    value: { assistantResponse: "In autumn, before the first frost." },
  },
});
const nextQuestion = Message.create({
  content: { $case: "instruction", value: { instruction: "And how deep?" } },
});

async function main(historyAddress: string, compilerAddress: string): Promise<void> {
  const history = new HistoryServiceClient(historyAddress, credentials.createInsecure());
  const compiler = new CompilerServiceClient(compilerAddress, credentials.createInsecure());
  try {
    await converse(history, compiler);
  } finally {
    history.close();
    compiler.close();
  }
}

async function converse(
  history: HistoryServiceClient,
  compiler: CompilerServiceClient,
): Promise<void> {
  const created = await createBranch(history);
  const { branchId } = created;
  console.log(`created a branch at revision ${created.revision}`);

  let written = await append(history, branchId, [system, question, answer]);
  console.log(`appended ${counted(written.placements.length)}: revision ${written.revision}`);

  const seen = await changeOf(history, branchId, written.revision);
  console.log(`watch: ${told(seen)}`);

  const compiled = await compile(compiler, branchId, nextQuestion);
  const { messages, messagesDigest } = compiled;
  console.log(`compiled ${counted(messages.length)}, digest ${messagesDigest}`);

  try {
    await append(history, branchId, [nextQuestion], created.revision);
  } catch (error) {
    if (!(error instanceof AntiphonError) || error.revisionConflict === undefined) {
      throw error;
    }
    const { expectedRevision, actualRevision } = error.revisionConflict;
    console.log(
      `refused: ${error.reason ?? ""}, expected ${expectedRevision}, actual ${actualRevision}`,
    );
  }
  const { revision } = await readBranch(history, branchId);
  written = await append(history, branchId, [nextQuestion], revision);
  console.log(`appended ${counted(written.placements.length)}: revision ${written.revision}`);

  const next = await changeOf(history, branchId, written.revision, seen);
  console.log(`watch, resumed after revision ${seen.revision}: ${told(next)}`);
}

async function createBranch(
  history: HistoryServiceClient,
): Promise<{ branchId: string; revision: bigint }> {
  const request = CreateBranchRequest.create({ requestId: newRequestId() });
  const { branch } = await unary<CreateBranchResponse>((done) =>
    history.createBranch(request, done),
  );
  if (branch === undefined) {
    throw new Error("the answer has no branch");
  }
  return branch;
}

async function readBranch(
  history: HistoryServiceClient,
  branchId: string,
): Promise<{ revision: bigint }> {
  const request = GetBranchRequest.create({ branchId });
  const { branch } = await unary<GetBranchResponse>((done) => history.getBranch(request, done));
  if (branch === undefined) {
    throw new Error("the answer has no branch");
  }
  return branch;
}

/** Appends messages; with an expected revision, only if the branch is at it. */
function append(
  history: HistoryServiceClient,
  branchId: string,
  messages: Message[],
  expectedRevision?: bigint,
): Promise<AddMessagesResponse> {
  const request = AddMessagesRequest.create({
    branchId,
    messages,
    expectedRevision,
    // The same id again would tell whether the write happened.
    requestId: newRequestId(),
  });
  return unary((done) => history.addMessages(request, done));
}

function compile(
  compiler: CompilerServiceClient,
  branchId: string,
  instruction: Message,
): Promise<CompileResponse> {
  const request = CompileRequest.create({
    source: { $case: "branch", value: { branchId } },
    profile: Profile.PROFILE_NATIVE,
    target: "openai.chat",
    instruction,
  });
  return unary((done) => compiler.compile(request, done));
}

/** Reads a watch up to the change of one revision, and cuts it there. */
async function changeOf(
  history: HistoryServiceClient,
  branchId: string,
  revision: bigint,
  seen?: BranchChange,
): Promise<BranchChange> {
  const after =
    seen === undefined ? {} : { afterRevision: seen.revision, incarnation: seen.incarnation };
  for await (const change of watchBranch(history, branchId, after)) {
    if (change.revision === revision) {
      return change;
    }
  }
  throw new Error("the branch was deleted");
}

function told(change: BranchChange): string {
  const added = change.operations.filter(({ operation }) => operation?.$case === "added");
  return `revision ${change.revision} added ${counted(added.length)}`;
}

function counted(messages: number): string {
  return messages === 1 ? "1 message" : `${messages} messages`;
}

const [historyAddress, compilerAddress] = process.argv.slice(2);
if (historyAddress === undefined || compilerAddress === undefined) {
  console.error("usage: main.js HISTORY COMPILER");
  process.exitCode = 2;
} else {
  await main(historyAddress, compilerAddress);
}
