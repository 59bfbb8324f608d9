package antiphon.scenarios;

import com.google.gson.JsonObject;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;

/** Runs the shared scenarios; the scenarios' README has the command line and the output. */
public final class Main {
  private Main() {}

  /** Exits with 0 when all passed, 1 when one failed, 2 on wrong usage. */
  public static void main(String[] arguments) throws IOException {
    // Java's own standard output is in the encoding of the locale.
    PrintStream out =
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.exit(run(arguments, out, System.err));
  }

  /** Does what {@link #main} says; returns the exit code. */
  static int run(String[] arguments, PrintStream out, PrintStream err) throws IOException {
    Options options;
    List<Scenario> scenarios;
    Set<String> volatileNames;
    try {
      options = Options.parse(arguments);
      volatileNames = Scenario.loadVolatile(options.folder());
      scenarios = options.choose(Scenario.loadAll(options.folder()));
    } catch (ScenarioException | IOException error) {
      err.println("scenarios: " + error.getMessage());
      err.println(Options.USAGE);
      return 2;
    }
    ManagedChannel history = open(options.history());
    ManagedChannel compiler = open(options.compiler());
    try {
      return runAll(scenarios, new Pair(history, compiler), volatileNames, options, out);
    } finally {
      history.shutdownNow();
      compiler.shutdownNow();
    }
  }

  private static ManagedChannel open(String address) {
    return ManagedChannelBuilder.forTarget(address).usePlaintext().build();
  }

  private static int runAll(
      List<Scenario> scenarios,
      Pair pair,
      Set<String> volatileNames,
      Options options,
      PrintStream out)
      throws IOException {
    int code = 0;
    for (Scenario scenario : scenarios) {
      Run.Outcome outcome = Run.of(scenario, pair, volatileNames);
      out.println(Json.text(line(scenario, outcome)));
      if (options.transcripts() != null) {
        Files.createDirectories(options.transcripts());
        Files.write(
            options.transcripts().resolve(scenario.name() + ".txt"), outcome.transcript().bytes());
      }
      code = outcome.fault() == null ? code : 1;
    }
    return code;
  }

  private static JsonObject line(Scenario scenario, Run.Outcome outcome) {
    JsonObject line = new JsonObject();
    line.addProperty("scenario", scenario.name());
    line.addProperty("ok", outcome.fault() == null);
    line.addProperty("steps", scenario.steps().size());
    line.addProperty("digests", outcome.digests());
    line.addProperty("transcript", outcome.transcript().digest());
    if (outcome.fault() != null) {
      line.addProperty("message", outcome.fault());
    }
    return line;
  }
}
