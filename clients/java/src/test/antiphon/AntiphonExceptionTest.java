package antiphon;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertSame;

import antiphon.history.v1.RevisionConflict;
import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.Test;

public class AntiphonExceptionTest {
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private static StatusRuntimeException thrown(Status.Code code, Any... details) {
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(code.value())
            .setMessage("no")
            .addAllDetails(List.of(details))
            .build());
  }

  private static Any info(String reason) {
    return Any.pack(
        ErrorInfo.newBuilder()
            .setReason(reason)
            .setDomain("antiphon.history")
            .putMetadata("actual", "9223372036854775807")
            .build());
  }

  @Test
  public void hasTheRevisionsOfAConflict() {
    RevisionConflict conflict =
        RevisionConflict.newBuilder()
            .setBranchId("b")
            .setExpectedRevision(1)
            .setActualRevision(Long.MAX_VALUE)
            .build();
    StatusRuntimeException cause =
        thrown(Status.Code.ABORTED, info("REVISION_CONFLICT"), Any.pack(conflict));

    AntiphonException error = AntiphonException.of(cause);

    assertEquals(Status.Code.ABORTED, error.code());
    assertEquals("REVISION_CONFLICT", error.reason());
    assertEquals("antiphon.history", error.domain());
    assertEquals(Map.of("actual", "9223372036854775807"), error.metadata());
    assertEquals("no", error.getMessage());
    assertEquals(Optional.of(conflict), error.revisionConflict());
    assertEquals(2, error.details().size());
    assertSame(cause, error.getCause());
    assertEquals(List.of(), error.fieldViolations());
    assertEquals(Optional.empty(), error.retryAfter());
  }

  @Test
  public void hasTheFieldsOfABadRequest() {
    BadRequest.Builder request = BadRequest.newBuilder();
    request.addFieldViolationsBuilder().setField("messages[0].id").setDescription("no UUID");
    request.addFieldViolationsBuilder().setField("branch_id").setDescription("empty");

    AntiphonException error =
        AntiphonException.of(
            thrown(
                Status.Code.INVALID_ARGUMENT,
                info("FIELD_INVALID"),
                Any.pack(request.build())));

    assertEquals(
        List.of(
            new FieldViolation("messages[0].id", "no UUID"),
            new FieldViolation("branch_id", "empty")),
        error.fieldViolations());
    assertEquals(Optional.empty(), error.revisionConflict());
  }

  @Test
  public void hasTheTimeToWait() {
    RetryInfo.Builder retry = RetryInfo.newBuilder();
    retry.getRetryDelayBuilder().setSeconds(2).setNanos(500_000_000);

    AntiphonException error =
        AntiphonException.of(
            thrown(Status.Code.UNAVAILABLE, info("STORE_BUSY"), Any.pack(retry.build())));

    assertEquals(Optional.of(Duration.ofMillis(2500)), error.retryAfter());
  }

  @Test
  public void aFailureOfTheTransportHasNoReason() {
    AntiphonException error =
        AntiphonException.of(
            Status.UNAVAILABLE.withDescription("io exception").asRuntimeException());

    assertEquals(Status.Code.UNAVAILABLE, error.code());
    assertEquals("", error.reason());
    assertEquals("", error.domain());
    assertEquals("io exception", error.getMessage());
    assertEquals(List.of(), error.details());
  }

  @Test
  public void aTrailerThatIsNoStatusIsPassedOver() {
    Metadata trailers = new Metadata();
    trailers.put(DETAILS, new byte[] {8});

    AntiphonException error =
        AntiphonException.of(Status.ABORTED.withDescription("no").asRuntimeException(trailers));

    assertEquals(Status.Code.ABORTED, error.code());
    assertEquals("", error.reason());
    assertEquals("no", error.getMessage());
  }

  @Test
  public void aDetailThatCannotBeDecodedIsPassedOver() {
    Any broken =
        Any.newBuilder()
            .setTypeUrl("type.googleapis.com/antiphon.history.v1.RevisionConflict")
            .setValue(ByteString.copyFrom(new byte[] {8}))
            .build();

    AntiphonException error =
        AntiphonException.of(thrown(Status.Code.ABORTED, broken, info("REVISION_CONFLICT")));

    assertEquals("REVISION_CONFLICT", error.reason());
    assertEquals(Optional.empty(), error.revisionConflict());
  }
}
