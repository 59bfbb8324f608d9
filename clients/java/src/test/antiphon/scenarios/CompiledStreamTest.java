package antiphon.scenarios;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;

import antiphon.compiler.v1.CompileResponse;
import antiphon.compiler.v1.StreamCompileResponse;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import com.google.protobuf.util.JsonFormat;
import org.junit.Test;

public class CompiledStreamTest {
  private static final String TEXT =
      "{messageStart: {role: ROLE_USER}}, {textChunk: {text: 'a'}}, {textChunk: {text: 'b'}},"
          + "{messageEnd: {}}";
  private static final String EMPTY = "{messageStart: {index: '1'}}, {messageEnd: {index: '1'}}";
  private static final String PARTS =
      "{messageStart: {index: '2', role: ROLE_TOOL}}, {partChunk: {text: 'c'}},"
          + "{partChunk: {text: 'd'}},"
          + "{partChunk: {partIndex: '1', imageUrl: {url: 'e', detail: IMAGE_DETAIL_LOW}}},"
          + "{partChunk: {partIndex: '1', imageUrl: {url: 'f', detail: IMAGE_DETAIL_LOW}}},"
          + "{partChunk: {partIndex: '2', whole: {json: {valueJson: '1'}}}},"
          + "{messageEnd: {index: '2'}}";
  private static final String REQUEST =
      "{requestChunk: {text: '{\"g'}}, {requestChunk: {text: '\":1}'}}";
  private static final String LAST =
      "{result: {last: true, messageCount: '3', messagesDigest: 'm', requestDigest: 'r'}}";

  /** Feeds frames, given as JSON with fewer quotation marks. */
  private static CompileResponse assemble(String... frames) throws Exception {
    CompiledStream stream = new CompiledStream();
    JsonArray list =
        JsonParser.parseString("[" + String.join(",", frames) + "]").getAsJsonArray();
    for (JsonElement each : list) {
      StreamCompileResponse.Builder frame = StreamCompileResponse.newBuilder();
      JsonFormat.parser().merge(each.toString(), frame);
      stream.feed(frame.build());
    }
    return stream.result();
  }

  @Test
  public void isWhatCompileWouldHaveAnswered() throws Exception {
    CompileResponse.Builder expected = CompileResponse.newBuilder();
    JsonFormat.parser()
        .merge(
            "{messages: [{role: ROLE_USER, text: 'ab'}, {text: ''}, {role: ROLE_TOOL,"
                + "parts: {parts: [{text: {text: 'cd'}},"
                + "{imageUrl: {url: 'ef', detail: IMAGE_DETAIL_LOW}},"
                + "{json: {valueJson: '1'}}]}}], systemText: 's', messagesDigest: 'm',"
                + "requestDigest: 'r', providerRequestJson: '{\"g\":1}'}",
            expected);

    assertEquals(
        expected.build(),
        assemble(TEXT, EMPTY, PARTS, REQUEST, "{result: {systemText: 's'}}", LAST));
  }

  @Test
  public void hasNoProviderRequestWithoutItsDigest() throws Exception {
    assertFalse(assemble("{result: {last: true}}").hasProviderRequestJson());
  }

  @Test
  public void refusesFramesOutOfTurn() {
    String start = "{messageStart: {}}";
    String end = "{messageEnd: {}}";
    String last = "{result: {last: true, messageCount: '1'}}";
    for (String frames :
        new String[] {
          "",
          start + "," + end,
          start + "," + last,
          start + "," + start,
          start + ",{messageEnd: {index: '1'}}",
          start + ",{partChunk: {partIndex: '1', text: 'a'}}",
          start + ",{partChunk: {whole: {}}},{partChunk: {whole: {}}}," + end,
          "{messageStart: {index: '1'}}",
          "{textChunk: {text: 'a'}}",
          "{partChunk: {text: 'a'}}",
          end,
          last,
          start + "," + end + "," + last + "," + last,
          "{}",
        }) {
      assertThrows(frames, MismatchException.class, () -> assemble(frames));
    }
  }
}
