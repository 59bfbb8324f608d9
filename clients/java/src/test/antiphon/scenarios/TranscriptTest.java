package antiphon.scenarios;

import static org.junit.Assert.assertEquals;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.Test;

public class TranscriptTest {
  @Test
  public void agreesWithTheSharedVectors() throws Exception {
    for (JsonObject vector : Vectors.load("transcripts.json")) {
      Set<String> names = new HashSet<>();
      vector.getAsJsonArray("volatile").forEach(name -> names.add(name.getAsString()));
      Transcript transcript = new Transcript(names);
      for (JsonElement each : vector.getAsJsonArray("answers")) {
        JsonObject answer = each.getAsJsonObject();
        transcript.add(
            answer.get("step").getAsInt(), answer.get("reply").getAsString(), answer.get("value"));
      }

      StringBuilder lines = new StringBuilder();
      vector.getAsJsonArray("lines").forEach(line -> lines.append(line.getAsString()).append('\n'));
      assertEquals(
          Vectors.about(vector),
          lines.toString(),
          new String(transcript.bytes(), StandardCharsets.UTF_8));
      assertEquals(
          Vectors.about(vector), vector.get("digest").getAsString(), transcript.digest());
    }
  }
}
