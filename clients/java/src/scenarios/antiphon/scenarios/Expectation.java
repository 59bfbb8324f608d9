package antiphon.scenarios;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Whether an answer is the one expected. Java's null stands for a member that is not there. */
final class Expectation {
  private static final int SHOWN = 200;

  private Expectation() {}

  /**
   * Checks an answer against an expectation whose variables are replaced.
   *
   * @throws MismatchException it is another
   * @throws ScenarioException the expectation has a matcher that there is not
   */
  static void match(JsonElement expected, JsonElement actual, String pointer) {
    String matcher = Variables.makerOf(expected);
    if (matcher != null) {
      matchBy(matcher, expected.getAsJsonObject().get(matcher), actual, pointer);
    } else if (expected instanceof JsonObject object) {
      matchMembers(object, actual, pointer);
    } else if (expected instanceof JsonArray list) {
      matchList(list, actual, pointer);
    } else if (!equal(expected, actual)) {
      throw new MismatchException(pointer, show(expected), show(actual));
    }
  }

  /** Returns a value as a message shows it, cut where it is long. */
  static String show(JsonElement value) {
    if (value == null) {
      return "nothing";
    }
    String text = Json.text(value);
    return text.length() <= SHOWN
        ? text
        : text.substring(0, SHOWN) + "… (" + text.length() + " characters)";
  }

  private static boolean equal(JsonElement expected, JsonElement actual) {
    if (expected instanceof JsonPrimitive one && actual instanceof JsonPrimitive other) {
      return one.isNumber() == other.isNumber()
          && one.isBoolean() == other.isBoolean()
          && (one.isNumber()
              ? one.getAsBigDecimal().compareTo(other.getAsBigDecimal()) == 0
              : one.getAsString().equals(other.getAsString()));
    }
    return expected.equals(actual);
  }

  private static void matchMembers(JsonObject expected, JsonElement actual, String pointer) {
    if (!(actual instanceof JsonObject came)) {
      throw new MismatchException(pointer, show(expected), show(actual));
    }
    for (Map.Entry<String, JsonElement> member : expected.entrySet()) {
      match(member.getValue(), came.get(member.getKey()), Json.step(pointer, member.getKey()));
    }
  }

  private static void matchList(JsonArray expected, JsonElement actual, String pointer) {
    if (!(actual instanceof JsonArray came)) {
      throw new MismatchException(pointer, show(expected), show(actual));
    }
    if (expected.size() != came.size()) {
      throw new MismatchException(
          pointer, expected.size() + " members", came.size() + ": " + show(came));
    }
    for (int index = 0; index < expected.size(); index++) {
      match(expected.get(index), came.get(index), Json.step(pointer, Integer.toString(index)));
    }
  }

  private static void matchBy(
      String matcher, JsonElement wanted, JsonElement actual, String pointer) {
    switch (matcher) {
      case "$absent" -> check(actual == null, pointer, "nothing", actual);
      case "$any" -> check(actual != null, pointer, "any value", actual);
      case "$exact" -> matchExactly(wanted.getAsJsonObject(), actual, pointer);
      case "$contains" -> matchContents(wanted.getAsJsonArray(), actual, pointer);
      case "$sha256" -> {
        boolean same = isText(actual) && wanted.getAsString().equals(Sha256.hex(utf8(actual)));
        check(same, pointer, "a text with the SHA-256 " + wanted.getAsString(), actual);
      }
      case "$starts" -> {
        boolean same = isText(actual) && actual.getAsString().startsWith(wanted.getAsString());
        check(same, pointer, "a text that begins with " + show(wanted), actual);
      }
      case "$bytes" -> {
        boolean same = isText(actual) && utf8(actual).length == wanted.getAsInt();
        check(same, pointer, "a text of " + wanted + " bytes", actual);
      }
      default -> throw new ScenarioException(matcher + " matches no value");
    }
  }

  private static void check(boolean matches, String pointer, String wanted, JsonElement actual) {
    if (!matches) {
      throw new MismatchException(pointer, wanted, show(actual));
    }
  }

  private static void matchExactly(JsonObject wanted, JsonElement actual, String pointer) {
    matchMembers(wanted, actual, pointer);
    for (Map.Entry<String, JsonElement> member : actual.getAsJsonObject().entrySet()) {
      boolean known = wanted.has(member.getKey());
      check(known, Json.step(pointer, member.getKey()), "nothing", member.getValue());
    }
  }

  private static void matchContents(JsonArray wanted, JsonElement actual, String pointer) {
    check(actual instanceof JsonArray, pointer, "a list with " + show(wanted), actual);
    for (JsonElement member : wanted) {
      boolean found = false;
      for (JsonElement came : actual.getAsJsonArray()) {
        found = found || matches(member, came);
      }
      check(found, pointer, "a list with " + show(member), actual);
    }
  }

  private static boolean matches(JsonElement expected, JsonElement actual) {
    try {
      match(expected, actual, "");
      return true;
    } catch (MismatchException other) {
      return false;
    }
  }

  private static boolean isText(JsonElement value) {
    return value instanceof JsonPrimitive primitive && primitive.isString();
  }

  private static byte[] utf8(JsonElement text) {
    return text.getAsString().getBytes(StandardCharsets.UTF_8);
  }
}
