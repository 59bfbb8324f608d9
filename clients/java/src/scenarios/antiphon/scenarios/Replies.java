package antiphon.scenarios;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** The replies of a call, one for a unary method, asked for one by one as they are wanted. */
final class Replies {
  private final ClientCall<byte[], byte[]> call;
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private boolean ended;
  private StatusRuntimeException error;

  /** A reply; or, with null for it, the end and the error it came with, if any. */
  private record Event(ByteString reply, StatusRuntimeException error) {}

  /** Starts the call. */
  Replies(ClientCall<byte[], byte[]> call, Metadata headers) {
    this.call = call;
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(byte[] message) {
            events.add(new Event(UnsafeByteOperations.unsafeWrap(message), null));
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            events.add(new Event(null, status.isOk() ? null : status.asRuntimeException(trailers)));
          }
        },
        headers);
  }

  /** Returns all that is still to come; waits for the end. */
  List<ByteString> readAll() {
    return read(Integer.MAX_VALUE);
  }

  /** Returns so many more replies, fewer where the call ends before; waits for them. */
  List<ByteString> read(int count) {
    List<ByteString> replies = new ArrayList<>();
    while (!ended && replies.size() < count) {
      call.request(1);
      Event event = next();
      if (event.reply == null) {
        ended = true;
        error = event.error;
      } else {
        replies.add(event.reply);
      }
    }
    return replies;
  }

  /** Whether the end was read. */
  boolean ended() {
    return ended;
  }

  /** How the call failed; null: it did not, or its end was not read. */
  StatusRuntimeException error() {
    return error;
  }

  /** Ends the call from this side; nothing more can be read. */
  void cancel() {
    call.cancel("cancelled by the scenario", null);
    ended = true;
  }

  private Event next() {
    try {
      return events.take();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }
}
