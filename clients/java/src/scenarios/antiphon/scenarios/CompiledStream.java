package antiphon.scenarios;

import antiphon.compiler.v1.CompileResponse;
import antiphon.compiler.v1.CompiledMessage;
import antiphon.compiler.v1.MessageEnd;
import antiphon.compiler.v1.MessageStart;
import antiphon.compiler.v1.Part;
import antiphon.compiler.v1.PartChunk;
import antiphon.compiler.v1.Result;
import antiphon.compiler.v1.StreamCompileResponse;
import java.util.ArrayList;
import java.util.List;

/** Puts a streamed compilation together: what its digests are over, and the digests. */
final class CompiledStream {
  private final CompileResponse.Builder compiled = CompileResponse.newBuilder();
  private final StringBuilder request = new StringBuilder();
  private MessageStart open;
  private StringBuilder text;
  private List<List<PartChunk>> parts;
  private Result last;

  /**
   * Takes the next frame.
   *
   * @throws MismatchException it has no place here
   */
  void feed(StreamCompileResponse frame) {
    require(last == null, "no frame after the last Result", frame.getFrameCase().name());
    switch (frame.getFrameCase()) {
      case MESSAGE_START -> start(frame.getMessageStart());
      case TEXT_CHUNK -> {
        requireOpen();
        text.append(frame.getTextChunk().getText());
      }
      case PART_CHUNK -> {
        requireOpen();
        add(frame.getPartChunk());
      }
      case MESSAGE_END -> end(frame.getMessageEnd());
      case REQUEST_CHUNK -> request.append(frame.getRequestChunk().getText());
      case RESULT -> take(frame.getResult());
      default -> require(false, "a frame of a known kind", "another");
    }
  }

  /**
   * Returns the compilation; the stream has ended.
   *
   * @throws MismatchException something is missing
   */
  CompileResponse result() {
    require(last != null && open == null, "a last Result", "none");
    long count = last.getMessageCount();
    require(count == compiled.getMessagesCount(), count + " messages", "others");
    compiled.setMessagesDigest(last.getMessagesDigest());
    if (last.hasRequestDigest()) {
      compiled.setRequestDigest(last.getRequestDigest());
      compiled.setProviderRequestJson(request.toString());
    }
    return compiled.build();
  }

  private void start(MessageStart start) {
    boolean inTurn = open == null && start.getIndex() == compiled.getMessagesCount();
    require(inTurn, "a message in its turn", "message " + start.getIndex());
    open = start;
    text = new StringBuilder();
    parts = new ArrayList<>();
  }

  private void add(PartChunk chunk) {
    if (chunk.getPartIndex() == parts.size()) {
      parts.add(new ArrayList<>());
    }
    boolean inTurn = chunk.getPartIndex() == parts.size() - 1;
    require(inTurn, "a part in its turn", "part " + chunk.getPartIndex());
    parts.get(parts.size() - 1).add(chunk);
  }

  private void end(MessageEnd end) {
    requireOpen();
    require(end.getIndex() == open.getIndex(), "the end of its message", "that of another");
    CompiledMessage.Builder message = compiled.addMessagesBuilder().setRole(open.getRole());
    if (parts.isEmpty()) {
      message.setText(text.toString());
    } else {
      parts.forEach(chunks -> message.getPartsBuilder().addParts(joined(chunks)));
    }
    open = null;
  }

  private void take(Result result) {
    if (result.hasSystemText()) {
      compiled.setSystemText(result.getSystemText());
    }
    last = result.getLast() ? result : null;
  }

  private static Part joined(List<PartChunk> chunks) {
    PartChunk first = chunks.get(0);
    if (first.hasWhole()) {
      require(chunks.size() == 1, "a whole part once", chunks.size() + " times");
      return first.getWhole();
    }
    Part.Builder part = Part.newBuilder();
    StringBuilder pieces = new StringBuilder();
    if (first.hasImageUrl()) {
      chunks.forEach(chunk -> pieces.append(chunk.getImageUrl().getUrl()));
      part.setImageUrl(first.getImageUrl().toBuilder().setUrl(pieces.toString()));
    } else {
      chunks.forEach(chunk -> pieces.append(chunk.getText()));
      part.getTextBuilder().setText(pieces.toString());
    }
    return part.build();
  }

  private void requireOpen() {
    require(open != null, "a frame within a message", "one outside");
  }

  private static void require(boolean holds, String expected, String actual) {
    if (!holds) {
      throw new MismatchException("", expected, actual);
    }
  }
}
