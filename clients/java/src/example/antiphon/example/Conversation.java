package antiphon.example;

import antiphon.AntiphonException;
import antiphon.BranchWatch;
import antiphon.MessagesDigest;
import antiphon.RequestIds;
import antiphon.WatchToken;
import antiphon.compiler.v1.BranchRef;
import antiphon.compiler.v1.CompileRequest;
import antiphon.compiler.v1.CompileResponse;
import antiphon.compiler.v1.CompilerServiceGrpc;
import antiphon.compiler.v1.CompilerServiceGrpc.CompilerServiceBlockingStub;
import antiphon.compiler.v1.Profile;
import antiphon.history.v1.AddMessagesRequest;
import antiphon.history.v1.AddMessagesResponse;
import antiphon.history.v1.Branch;
import antiphon.history.v1.BranchChange;
import antiphon.history.v1.BranchOperation;
import antiphon.history.v1.CreateBranchRequest;
import antiphon.history.v1.GetBranchRequest;
import antiphon.history.v1.HistoryServiceGrpc;
import antiphon.history.v1.HistoryServiceGrpc.HistoryServiceBlockingStub;
import antiphon.history.v1.RevisionConflict;
import antiphon.message.v1.AssistantResponseContent;
import antiphon.message.v1.InstructionContent;
import antiphon.message.v1.Message;
import antiphon.message.v1.SystemContent;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.StatusRuntimeException;
import java.util.concurrent.TimeUnit;

/**
 * A conversation that two programs share: append, watch, compile, meet another writer, watch on.
 *
 * <p>Arguments: the history service's and the compiler's address, each HOST:PORT.
 */
public final class Conversation {
  private static final long CALL_SECONDS = 30;

  private final ManagedChannel channel;
  private final HistoryServiceBlockingStub history;
  private final CompilerServiceBlockingStub compiler;

  private Conversation(ManagedChannel history, ManagedChannel compiler) {
    this.channel = history;
    this.history = HistoryServiceGrpc.newBlockingStub(history);
    this.compiler = CompilerServiceGrpc.newBlockingStub(compiler);
  }

  /** Runs the conversation against a running pair. */
  public static void main(String[] arguments) {
    if (arguments.length != 2) {
      System.err.println("usage: Conversation HISTORY COMPILER (each HOST:PORT)");
      System.exit(2);
    }
    ManagedChannel history = open(arguments[0]);
    ManagedChannel compiler = open(arguments[1]);
    try {
      new Conversation(history, compiler).run();
    } finally {
      history.shutdownNow();
      compiler.shutdownNow();
    }
  }

  private static ManagedChannel open(String address) {
    return ManagedChannelBuilder.forTarget(address).usePlaintext().build();
  }

  private void run() {
    Branch branch =
        history()
            .createBranch(
                CreateBranchRequest.newBuilder().setRequestId(RequestIds.create()).build())
            .getBranch();
    System.out.println("created a branch at revision " + branch.getRevision());

    AddMessagesResponse written =
        history()
            .addMessages(
                AddMessagesRequest.newBuilder()
                    .setBranchId(branch.getBranchId())
                    .addMessages(system("You are a gardener."))
                    .addMessages(instruction("When do I plant tulips?"))
                    .addMessages(response("In autumn, before the first frost."))
                    .setRequestId(RequestIds.create())
                    .build());
    tellAppended(written);

    WatchToken seen = watch(branch, WatchToken.BEGINNING, "watch", written.getRevision());

    CompileResponse compiled = compile(branch, "And how deep?");
    System.out.println(
        "compiled "
            + messages(compiled.getMessagesCount())
            + ", digest "
            + compiled.getMessagesDigest());
    if (!MessagesDigest.of(compiled).equals(compiled.getMessagesDigest())) {
      throw new IllegalStateException("the messages are not those that the digest was made of");
    }

    written = append(branch, compiled.getInstruction());
    tellAppended(written);

    String resumed = "watch, resumed after revision " + seen.revision();
    watch(branch, seen, resumed, written.getRevision());
  }

  /** Appends as of the revision the branch was created at; another writer has moved it on. */
  private AddMessagesResponse append(Branch created, Message message) {
    AddMessagesRequest.Builder request =
        AddMessagesRequest.newBuilder()
            .setBranchId(created.getBranchId())
            .addMessages(message)
            .setExpectedRevision(created.getRevision())
            .setRequestId(RequestIds.create());
    try {
      return history().addMessages(request.build());
    } catch (StatusRuntimeException thrown) {
      AntiphonException error = AntiphonException.of(thrown);
      RevisionConflict conflict = error.revisionConflict().orElseThrow(() -> error);
      System.out.println(
          "refused: "
              + error.reason()
              + ", expected "
              + conflict.getExpectedRevision()
              + ", actual "
              + conflict.getActualRevision());
    }
    // Read again, decide again: here, that the message still fits.
    GetBranchRequest read =
        GetBranchRequest.newBuilder().setBranchId(created.getBranchId()).build();
    long current = history().getBranch(read).getBranch().getRevision();
    return history()
        .addMessages(
            request.setExpectedRevision(current).setRequestId(RequestIds.create()).build());
  }

  /** Reads a watch up to a revision's change, tells it, and cuts the watch there. */
  private WatchToken watch(Branch branch, WatchToken after, String name, long revision) {
    try (BranchWatch changes = new BranchWatch(channel, branch.getBranchId(), after)) {
      BranchChange change;
      do {
        change = changes.next();
      } while (change.getRevision() < revision);
      long added = change.getOperationsList().stream().filter(BranchOperation::hasAdded).count();
      System.out.println(name + ": revision " + change.getRevision() + " added " + messages(added));
      return changes.token();
    }
  }

  private CompileResponse compile(Branch branch, String question) {
    return compiler
        .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
        .compile(
            CompileRequest.newBuilder()
                .setBranch(BranchRef.newBuilder().setBranchId(branch.getBranchId()))
                .setProfile(Profile.PROFILE_NATIVE)
                .setTarget("openai.chat")
                .setInstruction(instruction(question))
                .build());
  }

  /** The stub with a deadline, which counts from here: gRPC's calls have none by themselves. */
  private HistoryServiceBlockingStub history() {
    return history.withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS);
  }

  private static Message system(String text) {
    return Message.newBuilder()
        .setSystem(SystemContent.newBuilder().setSystemMessage(text))
        .build();
  }

  private static Message instruction(String text) {
    return Message.newBuilder()
        .setInstruction(InstructionContent.newBuilder().setInstruction(text))
        .build();
  }

  private static Message response(String text) {
    return Message.newBuilder()
        .setAssistantResponse(AssistantResponseContent.newBuilder().setAssistantResponse(text))
        .build();
  }

  private static void tellAppended(AddMessagesResponse written) {
    System.out.println(
        "appended "
            + messages(written.getPlacementsCount())
            + ": revision "
            + written.getRevision());
  }

  private static String messages(long count) {
    return count == 1 ? "1 message" : count + " messages";
  }
}
