package antiphon.scenarios;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One scenario as its file says it.
 *
 * @param name the file's name without {@code .json}
 * @param steps its steps
 */
record Scenario(String name, List<JsonObject> steps) {
  private static final String SUFFIX = ".json";
  private static final String VOLATILE = "volatile.json";

  /**
   * Reads every scenario of a folder, in the order of their files' names.
   *
   * @throws ScenarioException a file is no scenario
   */
  static List<Scenario> loadAll(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(SUFFIX) && !name.equals(VOLATILE))
          .sorted()
          .map(name -> parse(stem(name), read(folder.resolve(name))))
          .toList();
    }
  }

  /** Reads the names of what a server makes anew each time. */
  static Set<String> loadVolatile(Path folder) throws IOException {
    Set<String> names = new HashSet<>();
    read(folder.resolve(VOLATILE)).getAsJsonArray().forEach(name -> names.add(name.getAsString()));
    return names;
  }

  /**
   * Reads a file's contents.
   *
   * @throws ScenarioException it is no scenario of that name
   */
  static Scenario parse(String name, JsonElement file) {
    if (!(file instanceof JsonObject told)
        || !(told.get("steps") instanceof JsonArray list)
        || !told.has("name")
        || !told.get("name").getAsString().equals(name)) {
      throw new ScenarioException(name + ".json has no steps, or another name than the file");
    }
    List<JsonObject> steps = new ArrayList<>();
    list.forEach(step -> steps.add(step.getAsJsonObject()));
    return new Scenario(name, List.copyOf(steps));
  }

  private static String stem(String fileName) {
    return fileName.substring(0, fileName.length() - SUFFIX.length());
  }

  private static JsonElement read(Path file) {
    try {
      return JsonParser.parseString(Files.readString(file));
    } catch (IOException | JsonParseException error) {
      throw new ScenarioException(file + ": " + error.getMessage());
    }
  }
}
