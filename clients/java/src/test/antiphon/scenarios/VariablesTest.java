package antiphon.scenarios;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import org.junit.Test;

public class VariablesTest {
  @Test
  public void agreesWithTheSharedVectors() throws Exception {
    for (JsonObject vector : Vectors.load("values.json")) {
      Variables variables = new Variables();
      vector
          .getAsJsonObject("variables")
          .entrySet()
          .forEach(each -> variables.keep(each.getKey(), each.getValue()));
      if (vector.has("fails")) {
        assertThrows(ScenarioException.class, () -> make(variables, vector));
      } else {
        // As text: it shows the order of members and the spelling of numbers too.
        assertEquals(
            Vectors.about(vector),
            Json.text(vector.get("made")),
            Json.text(make(variables, vector)));
      }
    }
  }

  private static JsonElement make(Variables variables, JsonObject vector) {
    JsonElement value = vector.get("value");
    return vector.has("expected") ? variables.expectation(value) : variables.request(value);
  }

  @Test
  public void aNewVariableIsARandomUuidThatStays() {
    Variables variables = new Variables();

    String made = variables.text("${new:a} ${a} ${new:b}");

    assertTrue(made, made.matches("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f-]{16} .*"));
    String[] uuids = made.split(" ");
    assertEquals(uuids[0], uuids[1]);
    assertNotEquals(uuids[0], uuids[2]);
  }

  @Test
  public void keepsScalarsAsTexts() {
    Variables variables = new Variables();
    variables.keep("t", JsonParser.parseString("true"));
    variables.keep("n", JsonParser.parseString("-12"));

    assertEquals("true -12", variables.text("${t} ${n}"));
    assertThrows(ScenarioException.class, () -> variables.keep("o", new JsonObject()));
  }
}
