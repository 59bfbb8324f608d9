package antiphon;

import antiphon.history.v1.ReadSnapshotResponse;
import antiphon.history.v1.SnapshotBatch;
import antiphon.history.v1.SnapshotDelta;
import antiphon.history.v1.SnapshotFooter;
import antiphon.history.v1.SnapshotFrames;
import antiphon.history.v1.SnapshotHeader;
import antiphon.history.v1.SnapshotOrder;
import com.google.protobuf.ByteString;
import io.grpc.Status;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Puts a snapshot together from the frames of one ReadSnapshot stream and verifies it: the counts
 * of header, order and footer, and the footer's SHA-256 over the stored bytes as they came.
 *
 * <p>It takes whole snapshots only: leave {@code since_revision} out of the request. It takes
 * joined frames: set {@code takes_joined}. Cost: the messages' bytes are hashed and kept, not
 * parsed.
 */
public final class SnapshotAssembler {
  private final List<String> messageIds = new ArrayList<>();
  private final List<ByteString> messages = new ArrayList<>();
  private final MessageDigest hash = Sha256.begin();
  private SnapshotHeader header;
  private SnapshotFooter footer;

  /**
   * Reads a stub's answer to its end.
   *
   * @throws AntiphonException SNAPSHOT_TRUNCATED, as {@link #feed} and {@link #result}
   */
  public static Snapshot assemble(Iterator<ReadSnapshotResponse> frames) {
    SnapshotAssembler assembler = new SnapshotAssembler();
    frames.forEachRemaining(assembler::feed);
    return assembler.result();
  }

  /**
   * Takes the next frame, or those that it joins.
   *
   * @throws AntiphonException SNAPSHOT_TRUNCATED: the frame has no place here
   */
  public void feed(ReadSnapshotResponse frame) {
    if (frame.hasJoined()) {
      apart(frame.getJoined()).forEach(this::take);
    } else {
      take(frame);
    }
  }

  /**
   * Returns the snapshot; the stream has ended.
   *
   * @throws AntiphonException SNAPSHOT_TRUNCATED: a part is missing, a count differs, or the
   *     messages are not the bytes that the footer's hash was made of
   */
  public Snapshot result() {
    if (footer == null) {
      throw truncated("the snapshot ended before its footer");
    }
    long count = messages.size();
    if (header.getMessageCount() != count
        || messageIds.size() != count
        || footer.getMessageCount() != count) {
      throw truncated(
          count
              + " snapshot messages arrived; header, order and footer announce "
              + header.getMessageCount()
              + ", "
              + messageIds.size()
              + " and "
              + footer.getMessageCount());
    }
    if (!footer.getSha256().equals(ByteString.copyFrom(hash.digest()))) {
      throw truncated("the snapshot's messages do not match the hash in its footer");
    }
    return new Snapshot(header, List.copyOf(messageIds), List.copyOf(messages));
  }

  static AntiphonException truncated(String message) {
    return AntiphonException.found(Status.Code.DATA_LOSS, "SNAPSHOT_TRUNCATED", message);
  }

  /** The frames that joined ones stand for, in their order. */
  private static List<ReadSnapshotResponse> apart(SnapshotFrames joined) {
    List<ReadSnapshotResponse.Builder> frames = new ArrayList<>();
    if (joined.hasHeader()) {
      frames.add(ReadSnapshotResponse.newBuilder().setHeader(joined.getHeader()));
    }
    for (SnapshotOrder order : joined.getOrdersList()) {
      frames.add(ReadSnapshotResponse.newBuilder().setOrder(order));
    }
    for (SnapshotDelta delta : joined.getDeltasList()) {
      frames.add(ReadSnapshotResponse.newBuilder().setDelta(delta));
    }
    for (SnapshotBatch batch : joined.getBatchesList()) {
      frames.add(ReadSnapshotResponse.newBuilder().setBatch(batch));
    }
    if (joined.hasFooter()) {
      frames.add(ReadSnapshotResponse.newBuilder().setFooter(joined.getFooter()));
    }
    return frames.stream().map(ReadSnapshotResponse.Builder::build).toList();
  }

  private void take(ReadSnapshotResponse frame) {
    if (footer != null) {
      throw truncated("the snapshot goes on after its footer");
    }
    if (frame.hasHeader() != (header == null)) {
      throw truncated("a snapshot begins with its one header");
    }
    switch (frame.getFrameCase()) {
      case HEADER -> begin(frame.getHeader());
      case ORDER -> add(frame.getOrder());
      case BATCH -> add(frame.getBatch());
      case FOOTER -> footer = frame.getFooter();
      default -> throw truncated("the snapshot has a frame that has no place in a whole one");
    }
  }

  private void begin(SnapshotHeader header) {
    if (header.getIsDelta()) {
      throw truncated("the snapshot is a delta, which was not asked for");
    }
    this.header = header;
  }

  private void add(SnapshotOrder order) {
    if (!messages.isEmpty()) {
      throw truncated("the snapshot's order goes on after its messages began");
    }
    messageIds.addAll(order.getMessageIdsList());
  }

  private void add(SnapshotBatch batch) {
    for (ByteString message : batch.getMessagesList()) {
      hash.update(message.asReadOnlyByteBuffer());
      messages.add(message);
    }
  }
}
