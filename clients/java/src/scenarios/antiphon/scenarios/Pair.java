package antiphon.scenarios;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;

/**
 * The running pair, called with bytes: what is sent need not be a message, and what comes is seen
 * as it came.
 *
 * @param history the history service
 * @param compiler the compiler service
 */
record Pair(Channel history, Channel compiler) {
  private static final String COMPILER = "antiphon.compiler.";

  /**
   * Sends a call and returns its replies, to be read. Every method is called as a stream of both
   * sides: on the wire there is no difference.
   */
  Replies start(Call call) {
    String service = call.method().getService().getFullName();
    MethodDescriptor<byte[], byte[]> method =
        MethodDescriptor.newBuilder(new Bytes(), new Bytes())
            .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
            .setFullMethodName(service + "/" + call.method().getName())
            .build();
    CallOptions options =
        CallOptions.DEFAULT.withDeadlineAfter(call.timeoutMillis(), TimeUnit.MILLISECONDS);
    Channel channel = service.startsWith(COMPILER) ? compiler : history;
    ClientCall<byte[], byte[]> started = channel.newCall(method, options);
    Replies replies = new Replies(started, call.headers());
    call.requests().forEach(started::sendMessage);
    started.halfClose();
    return replies;
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }
  }
}
