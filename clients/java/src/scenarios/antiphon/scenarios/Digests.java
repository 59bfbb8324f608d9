package antiphon.scenarios;

import antiphon.AntiphonException;
import antiphon.MessagesDigest;
import antiphon.SnapshotAssembler;
import antiphon.compiler.v1.CompileResponse;
import antiphon.compiler.v1.StreamCompileResponse;
import antiphon.history.v1.ReadSnapshotResponse;
import com.google.gson.JsonObject;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.util.List;

/** Checks the digests that an answer carries against what came. */
final class Digests {
  private Digests() {}

  /**
   * Checks a call that ended OK; returns how many digests its answer has.
   *
   * @throws MismatchException one of them is not what the answer gives
   */
  static int check(Call call, JsonObject step, List<ByteString> replies) {
    try {
      return switch (call.method().getFullName()) {
        case "antiphon.compiler.v1.CompilerService.Compile" ->
            compiled(CompileResponse.parseFrom(replies.get(0)));
        case "antiphon.compiler.v1.CompilerService.StreamCompile" -> streamed(replies);
        case "antiphon.history.v1.HistoryService.ReadSnapshot" ->
            asksForChanges(step) ? 0 : snapshot(replies);
        default -> 0;
      };
    } catch (InvalidProtocolBufferException error) {
      throw new ScenarioException("an answer cannot be decoded: " + error.getMessage());
    }
  }

  private static boolean asksForChanges(JsonObject step) {
    return step.has("request") && step.getAsJsonObject("request").has("sinceRevision");
  }

  private static int compiled(CompileResponse compiled) {
    equal("/messagesDigest", computed(compiled), compiled.getMessagesDigest());
    if (!compiled.hasProviderRequestJson()) {
      return 1;
    }
    String request = Sha256.hex(compiled.getProviderRequestJsonBytes().toByteArray());
    equal("/requestDigest", request, compiled.getRequestDigest());
    return 2;
  }

  private static String computed(CompileResponse compiled) {
    try {
      return MessagesDigest.of(compiled);
    } catch (IllegalArgumentException unknown) {
      throw new MismatchException("/messages", "what the form has", unknown.getMessage());
    }
  }

  private static int streamed(List<ByteString> frames) throws InvalidProtocolBufferException {
    CompiledStream stream = new CompiledStream();
    for (ByteString frame : frames) {
      stream.feed(StreamCompileResponse.parseFrom(frame));
    }
    return compiled(stream.result());
  }

  private static int snapshot(List<ByteString> frames) throws InvalidProtocolBufferException {
    SnapshotAssembler snapshot = new SnapshotAssembler();
    try {
      for (ByteString frame : frames) {
        snapshot.feed(ReadSnapshotResponse.parseFrom(frame));
      }
      snapshot.result();
    } catch (AntiphonException error) {
      throw new MismatchException("", "a whole snapshot", error.getMessage());
    }
    return 1;
  }

  private static void equal(String pointer, String computed, String told) {
    if (!computed.equals(told)) {
      throw new MismatchException(pointer, computed, told);
    }
  }
}
