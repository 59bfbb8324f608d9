package antiphon;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import antiphon.compiler.v1.CompileResponse;
import antiphon.message.v1.ToolCall;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.util.JsonFormat;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.Test;

public class MessagesDigestTest {
  @Test
  public void agreesWithTheSharedVectors() throws Exception {
    Path file = Path.of(System.getProperty("scenarios"), "vectors", "digests.json");
    JsonArray vectors = JsonParser.parseString(Files.readString(file)).getAsJsonArray();
    assertTrue(vectors.size() > 10);
    for (JsonElement each : vectors) {
      JsonObject vector = each.getAsJsonObject();
      CompileResponse.Builder compiled = CompileResponse.newBuilder();
      JsonFormat.parser().merge(vector.get("response").toString(), compiled);

      assertEquals(
          vector.get("about").getAsString(),
          vector.get("digest").getAsString(),
          MessagesDigest.of(compiled.build()));
    }
  }

  @Test
  public void refusesWhatHasNoForm() {
    CompileResponse.Builder message = CompileResponse.newBuilder();
    message.addMessagesBuilder();
    assertThrows(
        IllegalArgumentException.class, () -> MessagesDigest.of(message.build()));

    CompileResponse.Builder part = CompileResponse.newBuilder();
    part.addMessagesBuilder().getPartsBuilder().addPartsBuilder();
    assertThrows(IllegalArgumentException.class, () -> MessagesDigest.of(part.build()));

    CompileResponse.Builder block = CompileResponse.newBuilder();
    block
        .addMessagesBuilder()
        .getPartsBuilder()
        .addPartsBuilder()
        .getToolResultBuilder()
        .addContentBuilder()
        .setToolCall(ToolCall.getDefaultInstance());
    assertThrows(IllegalArgumentException.class, () -> MessagesDigest.of(block.build()));
  }
}
