package antiphon.scenarios;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** What was answered in one scenario, as lines that are equal in every language. */
final class Transcript {
  private static final Pattern UUID =
      Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

  private final Set<String> volatileNames;
  private final Map<String, String> uuids = new HashMap<>();
  private final StringBuilder lines = new StringBuilder();

  /**
   * A leaf of an answer.
   *
   * @param pointer its JSON pointer
   * @param name the member that it is, or in whose list it is
   * @param type s, n, b or o
   * @param text its value
   */
  private record Leaf(String pointer, String name, char type, String text) {
    byte[] order() {
      return pointer.getBytes(StandardCharsets.UTF_8);
    }
  }

  /** Begins; the names are those whose values a server makes anew each time. */
  Transcript(Set<String> volatileNames) {
    this.volatileNames = volatileNames;
  }

  /** Adds the leaves of a step's reply, which has a number, or of its error. */
  void add(int step, String reply, JsonElement value) {
    List<Leaf> leaves = new ArrayList<>();
    collect(value, "", "", leaves);
    leaves.sort(Comparator.comparing(Leaf::order, Arrays::compareUnsigned));
    for (Leaf leaf : leaves) {
      lines.append(step).append('\t').append(reply).append('\t').append(leaf.pointer);
      lines.append('\t').append(leaf.type).append('\t').append(escape(normal(leaf))).append('\n');
    }
  }

  /** Returns all lines in UTF-8. */
  byte[] bytes() {
    return lines.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the SHA-256 of the lines, in hexadecimal. */
  String digest() {
    return Sha256.hex(bytes());
  }

  private static void collect(JsonElement value, String pointer, String name, List<Leaf> leaves) {
    if (value instanceof JsonObject object) {
      if (object.size() == 0) {
        leaves.add(new Leaf(pointer, name, 'o', ""));
      }
      for (Map.Entry<String, JsonElement> member : object.entrySet()) {
        String key = member.getKey();
        collect(member.getValue(), Json.step(pointer, key), key, leaves);
      }
    } else if (value instanceof JsonArray list) {
      for (int index = 0; index < list.size(); index++) {
        collect(list.get(index), Json.step(pointer, Integer.toString(index)), name, leaves);
      }
    } else if (value instanceof JsonPrimitive primitive) {
      leaves.add(new Leaf(pointer, name, typeOf(primitive), primitive.getAsString()));
    }
  }

  private static char typeOf(JsonPrimitive primitive) {
    if (primitive.isBoolean()) {
      return 'b';
    }
    return primitive.isNumber() ? 'n' : 's';
  }

  private String normal(Leaf leaf) {
    if (leaf.type != 'o' && volatileNames.contains(leaf.name)) {
      return "<" + leaf.name + ">";
    }
    return UUID.matcher(leaf.text).replaceAll(found -> numbered(found.group()));
  }

  private String numbered(String uuid) {
    return uuids.computeIfAbsent(uuid, fresh -> "<uuid-" + (uuids.size() + 1) + ">");
  }

  private static String escape(String text) {
    return text.replace("\\", "\\\\")
        .replace("\t", "\\t")
        .replace("\n", "\\n")
        .replace("\r", "\\r");
  }
}
