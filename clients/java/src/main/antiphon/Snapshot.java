package antiphon;

import antiphon.history.v1.SnapshotHeader;
import antiphon.message.v1.Message;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;

/**
 * A selection of a branch at one revision, verified.
 *
 * @param header the branch, its incarnation, the revision and the system record
 * @param messageIds the selection's order
 * @param storedMessages the messages as they are stored, in that order: each an encoded {@link
 *     Message}
 */
public record Snapshot(
    SnapshotHeader header, List<String> messageIds, List<ByteString> storedMessages) {

  /**
   * Decodes the messages. Cost: in step with their bytes, at every call.
   *
   * @throws AntiphonException SNAPSHOT_TRUNCATED: one of them is not a message
   */
  public List<Message> messages() {
    List<Message> messages = new ArrayList<>(storedMessages.size());
    for (ByteString stored : storedMessages) {
      try {
        messages.add(Message.parseFrom(stored));
      } catch (InvalidProtocolBufferException unreadable) {
        throw SnapshotAssembler.truncated(
            "message " + messages.size() + " of the snapshot cannot be decoded");
      }
    }
    return messages;
  }
}
