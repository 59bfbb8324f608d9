package antiphon.scenarios;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.Map;
import java.util.Set;

/**
 * Compares a step's answer with its {@code expect}.
 *
 * @param told the replies in proto3 JSON
 * @param failure how the call failed; null: it did not
 * @param streams whether the replies are a stream's
 */
record Check(JsonArray told, Failure failure, boolean streams) {
  private static final Set<String> MEMBERS = Set.of("reply", "replies", "count", "error");
  private static final Set<String> ERROR_MEMBERS =
      Set.of("code", "reason", "domain", "metadata", "fields", "details", "retry");

  /**
   * Compares.
   *
   * @throws MismatchException the answer is another
   * @throws ScenarioException the expectation says something that the format has not
   */
  void match(JsonObject expect) {
    Run.only(expect, MEMBERS, "an expectation");
    if (failure != null && !expect.has("error")) {
      throw new MismatchException("", "no error", Expectation.show(failure.leaves()));
    }
    if (expect.has("reply")) {
      JsonElement reply = streams || told.isEmpty() ? null : told.get(0);
      Expectation.match(expect.get("reply"), reply, "");
    }
    if (expect.has("replies")) {
      Expectation.match(expect.get("replies"), told, "");
    }
    if (expect.has("count") && expect.get("count").getAsInt() != told.size()) {
      throw new MismatchException("", expect.get("count") + " replies", "" + told.size());
    }
    if (expect.has("error")) {
      matchError(expect.getAsJsonObject("error"));
    }
  }

  private void matchError(JsonObject expected) {
    Run.only(expected, ERROR_MEMBERS, "an error");
    if (failure == null) {
      throw new MismatchException(
          "/error", Expectation.show(expected), told.size() + " replies and no error");
    }
    for (Map.Entry<String, JsonElement> member : expected.entrySet()) {
      JsonElement actual =
          switch (member.getKey()) {
            case "details" -> failure.details();
            case "retry" -> new JsonPrimitive(failure.retry());
            default -> failure.leaves().get(member.getKey());
          };
      Expectation.match(member.getValue(), actual, "/error/" + member.getKey());
    }
  }
}
