package antiphon.scenarios;

import antiphon.AntiphonException;
import antiphon.FieldViolation;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.protobuf.Any;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import java.util.List;

/**
 * How a call failed.
 *
 * @param leaves code, reason, domain, metadata and fields, as a transcript has them: what is not
 *     there is left out
 * @param details all details in proto3 JSON by type name
 * @param retry whether RetryInfo is among them
 */
record Failure(JsonObject leaves, JsonObject details, boolean retry) {
  /** Reads the error of a call. */
  static Failure of(AntiphonException error) {
    JsonObject leaves = new JsonObject();
    leaves.addProperty("code", error.code().name());
    if (has(error, ErrorInfo.class)) {
      leaves.addProperty("reason", error.reason());
      leaves.addProperty("domain", error.domain());
      JsonObject metadata = new JsonObject();
      error.metadata().forEach(metadata::addProperty);
      leaves.add("metadata", metadata);
    }
    if (has(error, BadRequest.class)) {
      leaves.add("fields", fields(error.fieldViolations()));
    }
    JsonObject details = new JsonObject();
    for (Any detail : error.details()) {
      String url = detail.getTypeUrl();
      String name = url.substring(url.lastIndexOf('/') + 1);
      details.add(name, Contract.decode(detail.getValue(), Contract.detail(name)));
    }
    return new Failure(leaves, details, has(error, RetryInfo.class));
  }

  private static boolean has(AntiphonException error, Class<? extends Message> kind) {
    return error.details().stream().anyMatch(detail -> detail.is(kind));
  }

  private static JsonArray fields(List<FieldViolation> violations) {
    JsonArray fields = new JsonArray();
    violations.forEach(each -> fields.add(each.field()));
    return fields;
  }
}
