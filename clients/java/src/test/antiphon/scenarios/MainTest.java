package antiphon.scenarios;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class MainTest {
  private static final String EMPTY =
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(String... arguments) throws Exception {
    return Main.run(
        arguments,
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  private void write(String name, String contents) throws Exception {
    Files.writeString(folder.getRoot().toPath().resolve(name), contents);
  }

  private String[] arguments(String... more) {
    List<String> arguments =
        new ArrayList<>(List.of("--history", "127.0.0.1:1", "--compiler", "127.0.0.1:1"));
    arguments.addAll(List.of("--scenarios", folder.getRoot().getPath()));
    arguments.addAll(List.of(more));
    return arguments.toArray(String[]::new);
  }

  @Test
  public void tellsEachScenarioInTheOrderOfTheirNames() throws Exception {
    write("volatile.json", "[]");
    write("b.json", "{\"name\": \"b\", \"steps\": []}");
    write("a.json", "{\"name\": \"a\", \"steps\": [{\"cancel\": \"é\"}]}");
    write("c.json", "{\"name\": \"c\", \"steps\": []}");
    Path transcripts = folder.getRoot().toPath().resolve("t");

    int code = run(arguments("--only", "b", "a", "--transcripts", transcripts.toString()));

    assertEquals(1, code);
    String line = "{\"scenario\":\"%s\",\"ok\":%s,\"steps\":%d,\"digests\":0,\"transcript\":\"%s\"";
    assertEquals(
        List.of(
            String.format(line, "a", "false", 1, EMPTY)
                + ",\"message\":\"step 0, cancel é: no stream é is open\"}",
            String.format(line, "b", "true", 0, EMPTY) + "}"),
        out.toString(StandardCharsets.UTF_8).lines().toList());
    assertEquals(0, Files.size(transcripts.resolve("a.txt")));
    assertEquals(0, Files.size(transcripts.resolve("b.txt")));
    assertEquals(0, run(arguments("--only", "b")));
  }

  @Test
  public void refusesWrongUsage() throws Exception {
    write("volatile.json", "[]");
    write("a.json", "{\"name\": \"a\", \"steps\": []}");

    assertEquals(2, run());
    assertEquals(2, run("--history", "127.0.0.1:1"));
    assertEquals(2, run(arguments("--only")));
    assertEquals(2, run(arguments("--only", "nobody")));
    assertEquals(2, run(arguments("--loud", "yes")));
    assertEquals(2, run(arguments("--scenarios", folder.getRoot() + "/none")));
    write("b.json", "{\"name\": \"other\", \"steps\": []}");
    assertEquals(2, run(arguments()));
    assertEquals(0, out.size());
    assertTrue(err.toString(StandardCharsets.UTF_8).contains("usage: "));
  }
}
