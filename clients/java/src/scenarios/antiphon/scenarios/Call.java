package antiphon.scenarios;

import com.google.protobuf.Descriptors.MethodDescriptor;
import io.grpc.Metadata;
import java.util.List;

/**
 * One call as a step says it, its values made.
 *
 * @param method the method
 * @param requests the requests' bytes: one, or for a client stream any number
 * @param headers what goes with it
 * @param timeoutMillis its deadline
 */
record Call(MethodDescriptor method, List<byte[]> requests, Metadata headers, long timeoutMillis) {
  /** Whether the answer is a stream. */
  boolean streams() {
    return method.isServerStreaming();
  }
}
