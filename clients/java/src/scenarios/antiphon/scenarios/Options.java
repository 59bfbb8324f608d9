package antiphon.scenarios;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The runner's command line.
 *
 * @param history the history service, HOST:PORT
 * @param compiler the compiler service, HOST:PORT
 * @param folder the scenarios' folder
 * @param only the scenarios to run; null: all
 * @param transcripts where transcripts go; null: nowhere
 */
record Options(String history, String compiler, Path folder, Set<String> only, Path transcripts) {
  static final String USAGE =
      "usage: scenarios --history HOST:PORT --compiler HOST:PORT"
          + " [--scenarios DIR] [--only NAME ...] [--transcripts DIR]";

  private static final String FOLDER = "../../tests/contract/scenarios";

  /**
   * Reads the command line.
   *
   * @throws ScenarioException it is wrong
   */
  static Options parse(String[] arguments) {
    String history = null;
    String compiler = null;
    String folder = FOLDER;
    Set<String> only = null;
    Path transcripts = null;
    for (int index = 0; index < arguments.length; index++) {
      String option = arguments[index];
      if (index + 1 == arguments.length || arguments[index + 1].startsWith("--")) {
        throw new ScenarioException("no such option, or no value for it: " + option);
      }
      String value = arguments[++index];
      switch (option) {
        case "--history" -> history = value;
        case "--compiler" -> compiler = value;
        case "--scenarios" -> folder = value;
        case "--transcripts" -> transcripts = Path.of(value);
        case "--only" -> {
          only = new HashSet<>(Set.of(value));
          while (index + 1 < arguments.length && !arguments[index + 1].startsWith("--")) {
            only.add(arguments[++index]);
          }
        }
        default -> throw new ScenarioException("no such option: " + option);
      }
    }
    if (history == null || compiler == null) {
      throw new ScenarioException("--history and --compiler are needed");
    }
    return new Options(history, compiler, Path.of(folder), only, transcripts);
  }

  /**
   * Returns those of the scenarios that are to run.
   *
   * @throws ScenarioException one that is asked for is not there
   */
  List<Scenario> choose(List<Scenario> scenarios) {
    if (only == null) {
      return scenarios;
    }
    Set<String> unknown = new TreeSet<>(only);
    scenarios.forEach(scenario -> unknown.remove(scenario.name()));
    if (!unknown.isEmpty()) {
      throw new ScenarioException("there is no scenario " + String.join(", ", unknown));
    }
    return scenarios.stream().filter(scenario -> only.contains(scenario.name())).toList();
  }
}
