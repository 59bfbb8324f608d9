package antiphon.scenarios;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.Iterator;
import java.util.Map;

/** JSON text and JSON pointers, on Gson's trees, which keep a number's spelling. */
final class Json {
  private Json() {}

  /**
   * Returns a value's text as {@code $json} writes it: compact, members as they stand, nothing
   * escaped but what must be. (Gson's own writer escapes U+2028 too.)
   */
  static String text(JsonElement value) {
    StringBuilder text = new StringBuilder();
    write(value, text);
    return text.toString();
  }

  /** Returns the pointer of a member. */
  static String step(String pointer, String name) {
    return pointer + "/" + name.replace("~", "~0").replace("/", "~1");
  }

  /**
   * Returns what a pointer leads to.
   *
   * @throws ScenarioException it leads to nothing
   */
  static JsonElement resolve(JsonElement value, String pointer) {
    JsonElement found = value;
    String[] names = pointer.split("/", -1);
    for (int index = 1; index < names.length; index++) {
      found = member(found, names[index].replace("~1", "/").replace("~0", "~"));
      if (found == null) {
        throw new ScenarioException("the reply has nothing at " + pointer);
      }
    }
    return found;
  }

  private static JsonElement member(JsonElement value, String name) {
    if (value instanceof JsonObject object) {
      return object.get(name);
    }
    if (value instanceof JsonArray list && name.matches("[0-9]{1,9}")) {
      int index = Integer.parseInt(name);
      return index < list.size() ? list.get(index) : null;
    }
    return null;
  }

  private static void write(JsonElement value, StringBuilder text) {
    if (value instanceof JsonObject object) {
      write(object, text);
    } else if (value instanceof JsonArray list) {
      write(list, text);
    } else if (value.isJsonPrimitive() && value.getAsJsonPrimitive().isString()) {
      write(value.getAsString(), text);
    } else {
      text.append(value.isJsonNull() ? "null" : value.getAsString());
    }
  }

  private static void write(JsonObject object, StringBuilder text) {
    text.append('{');
    Iterator<Map.Entry<String, JsonElement>> members = object.entrySet().iterator();
    while (members.hasNext()) {
      Map.Entry<String, JsonElement> member = members.next();
      write(member.getKey(), text);
      text.append(':');
      write(member.getValue(), text);
      text.append(members.hasNext() ? "," : "");
    }
    text.append('}');
  }

  private static void write(JsonArray list, StringBuilder text) {
    text.append('[');
    for (int index = 0; index < list.size(); index++) {
      text.append(index == 0 ? "" : ",");
      write(list.get(index), text);
    }
    text.append(']');
  }

  private static void write(String string, StringBuilder text) {
    text.append('"');
    for (int index = 0; index < string.length(); index++) {
      char unit = string.charAt(index);
      switch (unit) {
        case '"' -> text.append("\\\"");
        case '\\' -> text.append("\\\\");
        case '\n' -> text.append("\\n");
        case '\r' -> text.append("\\r");
        case '\t' -> text.append("\\t");
        case '\b' -> text.append("\\b");
        case '\f' -> text.append("\\f");
        default -> {
          if (unit < ' ') {
            text.append(String.format("\\u%04x", (int) unit));
          } else {
            text.append(unit);
          }
        }
      }
    }
    text.append('"');
  }
}
