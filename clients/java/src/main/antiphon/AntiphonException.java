package antiphon;

import antiphon.history.v1.RevisionConflict;
import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A failed call in Antiphon's terms: its gRPC code, its reason and the facts that came with it.
 *
 * <p>The reasons and what a caller does about each are in {@code errors.proto} of each service.
 * A failure of the transport, a passed deadline and a cancelled call have a code and no reason.
 */
public final class AntiphonException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Status.Code code;
  private final com.google.rpc.Status details;
  private final ErrorInfo info;

  private AntiphonException(Status.Code code, com.google.rpc.Status details, Throwable cause) {
    super(details.getMessage(), cause);
    this.code = code;
    this.details = details;
    this.info = detail(ErrorInfo.class).orElse(ErrorInfo.getDefaultInstance());
  }

  /** Reads what a stub threw, or an observer was told; never fails, and keeps it as the cause. */
  public static AntiphonException of(Throwable thrown) {
    return new AntiphonException(Status.fromThrowable(thrown).getCode(), statusOf(thrown), thrown);
  }

  /** Makes an error that this library found itself, in what a service sent. */
  static AntiphonException found(Status.Code code, String reason, String message) {
    ErrorInfo info = ErrorInfo.newBuilder().setReason(reason).build();
    com.google.rpc.Status details =
        com.google.rpc.Status.newBuilder()
            .setCode(code.value())
            .setMessage(message)
            .addDetails(Any.pack(info))
            .build();
    return new AntiphonException(code, details, null);
  }

  private static com.google.rpc.Status statusOf(Throwable thrown) {
    try {
      com.google.rpc.Status details = StatusProto.fromThrowable(thrown);
      if (details != null) {
        return details;
      }
    } catch (IllegalArgumentException unreadable) {
      // The trailer is no status, or one of another call: gRPC's own fields still hold.
      thrown.addSuppressed(unreadable);
    }
    Status status = Status.fromThrowable(thrown);
    String description = status.getDescription();
    return com.google.rpc.Status.newBuilder()
        .setCode(status.getCode().value())
        .setMessage(description == null ? "" : description)
        .build();
  }

  /** The gRPC code. */
  public Status.Code code() {
    return code;
  }

  /** The reason, such as {@code REVISION_CONFLICT}; empty where no service gave one. */
  public String reason() {
    return info.getReason();
  }

  /** {@code antiphon.history} or {@code antiphon.compiler}; empty where no service spoke. */
  public String domain() {
    return info.getDomain();
  }

  /** The facts by name; {@code errors.proto} lists them by reason. */
  public Map<String, String> metadata() {
    return info.getMetadataMap();
  }

  /** The fields that break their rules: 50 at most, {@code violation_count} counts all. */
  public List<FieldViolation> fieldViolations() {
    return detail(BadRequest.class).stream()
        .flatMap(request -> request.getFieldViolationsList().stream())
        .map(each -> new FieldViolation(each.getField(), each.getDescription()))
        .toList();
  }

  /** The revisions of a REVISION_CONFLICT; empty for every other reason. */
  public Optional<RevisionConflict> revisionConflict() {
    return detail(RevisionConflict.class);
  }

  /** How long to wait before the call is sent again; empty where the service does not say. */
  public Optional<Duration> retryAfter() {
    return detail(RetryInfo.class)
        .map(RetryInfo::getRetryDelay)
        .map(delay -> Duration.ofSeconds(delay.getSeconds(), delay.getNanos()));
  }

  /** All details as they came, those without an accessor here included. */
  public List<Any> details() {
    return details.getDetailsList();
  }

  private <T extends Message> Optional<T> detail(Class<T> kind) {
    for (Any each : details.getDetailsList()) {
      if (each.is(kind)) {
        try {
          return Optional.of(each.unpack(kind));
        } catch (InvalidProtocolBufferException unreadable) {
          addSuppressed(unreadable);
        }
      }
    }
    return Optional.empty();
  }
}
