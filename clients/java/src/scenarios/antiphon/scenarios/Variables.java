package antiphon.scenarios;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The variables of one scenario, and the values that a file makes of them. */
final class Variables {
  /** What stands in an expectation in place of a value; it stays, its contents are made. */
  static final Set<String> MATCHERS =
      Set.of("$absent", "$any", "$exact", "$contains", "$sha256", "$starts", "$bytes");

  private static final Pattern MARK =
      Pattern.compile("\\$\\$|\\$\\{(new:)?([A-Za-z_][A-Za-z0-9_]*)\\}");
  private static final Pattern MAKER = Pattern.compile("\\$[a-z0-9]+");
  private static final String INDEX = "i";

  private final Map<String, String> values = new HashMap<>();

  /** Returns the one key of an object that makes or matches a value; null for any other value. */
  static String makerOf(JsonElement value) {
    if (value instanceof JsonObject object && object.size() == 1) {
      String key = object.keySet().iterator().next();
      return MAKER.matcher(key).matches() ? key : null;
    }
    return null;
  }

  /** Keeps a text under a name. */
  void keep(String name, String value) {
    values.put(name, value);
  }

  /**
   * Keeps a reply's text, number or boolean as a text.
   *
   * @throws ScenarioException it is none of these
   */
  void keep(String name, JsonElement value) {
    if (!value.isJsonPrimitive()) {
      throw new ScenarioException(
          "only a text, a number or a boolean can be saved, not " + Json.text(value));
    }
    keep(name, value.getAsString());
  }

  /**
   * Returns a request's value with its variables replaced and its makers made.
   *
   * @throws ScenarioException a variable has no value, or a maker is not one
   */
  JsonElement request(JsonElement value) {
    return expand(value, false);
  }

  /** Returns an expectation likewise; its matchers stay. */
  JsonElement expectation(JsonElement value) {
    return expand(value, true);
  }

  /** Returns a text with its variables replaced; what they hold is not looked into again. */
  String text(String template) {
    return MARK.matcher(template)
        .replaceAll(mark -> Matcher.quoteReplacement(value(mark.group(1), mark.group(2))));
  }

  private String value(String fresh, String name) {
    if (name == null) {
      return "$";
    }
    if (fresh != null) {
      keep(name, UUID.randomUUID().toString());
    }
    String value = values.get(name);
    if (value == null) {
      throw new ScenarioException("the variable " + name + " has no value");
    }
    return value;
  }

  private JsonElement expand(JsonElement value, boolean expected) {
    String maker = makerOf(value);
    if (maker != null) {
      JsonElement contents = value.getAsJsonObject().get(maker);
      return expected && MATCHERS.contains(maker)
          ? single(maker, expand(contents, true))
          : make(maker, contents);
    }
    if (value instanceof JsonObject object) {
      JsonObject made = new JsonObject();
      object
          .entrySet()
          .forEach(each -> made.add(text(each.getKey()), expand(each.getValue(), expected)));
      return made;
    }
    if (value instanceof JsonArray list) {
      JsonArray made = new JsonArray();
      list.forEach(each -> made.add(expand(each, expected)));
      return made;
    }
    if (value instanceof JsonPrimitive primitive && primitive.isString()) {
      return new JsonPrimitive(text(primitive.getAsString()));
    }
    return value;
  }

  private static JsonObject single(String key, JsonElement member) {
    JsonObject object = new JsonObject();
    object.add(key, member);
    return object;
  }

  private JsonElement make(String maker, JsonElement contents) {
    return switch (maker) {
      case "$repeat" -> repeat(contents.getAsJsonArray());
      case "$list" -> list(contents.getAsJsonArray());
      case "$json" -> new JsonPrimitive(Json.text(request(contents)));
      default -> throw new ScenarioException(maker + " makes no value");
    };
  }

  private JsonElement repeat(JsonArray contents) {
    String text = text(contents.get(0).getAsString());
    return new JsonPrimitive(text.repeat(contents.get(1).getAsInt()));
  }

  private JsonElement list(JsonArray contents) {
    String outer = values.get(INDEX);
    JsonArray made = new JsonArray();
    for (int index = 0; index < contents.get(0).getAsInt(); index++) {
      keep(INDEX, Integer.toString(index));
      made.add(request(contents.get(1)));
    }
    if (outer == null) {
      values.remove(INDEX);
    } else {
      keep(INDEX, outer);
    }
    return made;
  }
}
