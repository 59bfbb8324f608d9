package antiphon.scenarios;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The shared vectors: what a runner's parts must do. */
final class Vectors {
  private Vectors() {}

  static List<JsonObject> load(String name) throws IOException {
    Path file = Path.of(System.getProperty("scenarios"), "vectors", name);
    List<JsonObject> vectors = new ArrayList<>();
    for (JsonElement each : JsonParser.parseString(Files.readString(file)).getAsJsonArray()) {
      vectors.add(each.getAsJsonObject());
    }
    if (vectors.isEmpty()) {
      throw new IllegalStateException(name + " is empty");
    }
    return vectors;
  }

  static String about(JsonObject vector) {
    return vector.get("about").getAsString();
  }
}
