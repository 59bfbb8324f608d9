package antiphon;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import antiphon.compiler.v1.CompileResponse;
import antiphon.history.v1.ReadSnapshotResponse;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.Parser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.Test;

/** What every release of the contract put on the wire is read today, and written to the same bytes. */
public class WireFixturesTest {
  private static final List<String> CANONICAL =
      List.of("messages.jsonl", "stored.jsonl", "compiled.jsonl", "compile_stream.jsonl");

  private record Recorded(String type, String name, ByteString bytes) {
    com.google.protobuf.Message decode() throws ReflectiveOperationException, IOException {
      // The stubs' packages are those of the protos.
      Parser<?> parser = (Parser<?>) Class.forName(type).getMethod("parser").invoke(null);
      return (com.google.protobuf.Message) parser.parseFrom(bytes);
    }
  }

  private static List<Path> releases() throws IOException {
    Path folder = Path.of(System.getProperty("scenarios")).resolveSibling("wire");
    try (Stream<Path> all = Files.list(folder)) {
      List<Path> releases = all.filter(each -> !each.getFileName().toString().startsWith(".")).toList();
      assertFalse(releases.isEmpty());
      return releases;
    }
  }

  private static List<Recorded> read(Path file) throws IOException {
    List<Recorded> all = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      JsonObject one = JsonParser.parseString(line).getAsJsonObject();
      byte[] bytes = HexFormat.of().parseHex(one.get("hex").getAsString());
      all.add(
          new Recorded(
              one.get("type").getAsString(), one.get("name").getAsString(), ByteString.copyFrom(bytes)));
    }
    assertFalse(file.toString(), all.isEmpty());
    return all;
  }

  private static boolean hasUnknownField(MessageOrBuilder message) {
    if (!message.getUnknownFields().asMap().isEmpty()) {
      return true;
    }
    return message.getAllFields().values().stream()
        .flatMap(value -> value instanceof List<?> list ? list.stream() : Stream.of(value))
        .anyMatch(value -> value instanceof MessageOrBuilder inner && hasUnknownField(inner));
  }

  @Test
  public void recordedMessagesAreReadAndWrittenAgainToTheSameBytes() throws Exception {
    for (Path release : releases()) {
      for (String name : CANONICAL) {
        for (Recorded one : read(release.resolve(name))) {
          com.google.protobuf.Message message = one.decode();
          assertFalse(one.type() + ", " + one.name(), hasUnknownField(message));
          assertEquals(one.type() + ", " + one.name(), one.bytes(), message.toByteString());
        }
      }
    }
  }

  @Test
  public void aRecordedSnapshotIsWholeAndHasTheStoredMessages() throws Exception {
    for (Path release : releases()) {
      SnapshotAssembler assembler = new SnapshotAssembler();
      for (Recorded one : read(release.resolve("snapshot.jsonl"))) {
        com.google.protobuf.Message frame = one.decode();
        assertFalse(one.name(), hasUnknownField(frame));
        assembler.feed((ReadSnapshotResponse) frame);
      }
      Snapshot snapshot = assembler.result();
      List<ByteString> stored =
          read(release.resolve("stored.jsonl")).stream().map(Recorded::bytes).toList();
      assertEquals(stored, snapshot.storedMessages());
      assertTrue(snapshot.messages().stream().noneMatch(WireFixturesTest::hasUnknownField));
    }
  }

  @Test
  public void recordedCompilationsHaveTheirDigests() throws Exception {
    for (Path release : releases()) {
      for (Recorded one : read(release.resolve("compiled.jsonl"))) {
        CompileResponse compiled = (CompileResponse) one.decode();
        assertEquals(one.name(), compiled.getMessagesDigest(), MessagesDigest.of(compiled));
      }
    }
  }
}
