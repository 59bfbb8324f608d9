package antiphon.scenarios;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import org.junit.Test;

public class ExpectationTest {
  @Test
  public void agreesWithTheSharedVectors() throws Exception {
    for (JsonObject vector : Vectors.load("matching.json")) {
      if (vector.get("matches").getAsBoolean()) {
        match(vector);
      } else {
        MismatchException error =
            assertThrows(Vectors.about(vector), MismatchException.class, () -> match(vector));
        assertEquals(
            Vectors.about(vector), vector.get("pointer").getAsString(), error.pointer());
      }
    }
  }

  private static void match(JsonObject vector) {
    Expectation.match(vector.get("expected"), vector.get("actual"), "");
  }

  @Test
  public void knowsNoOtherMatchers() {
    assertThrows(
        ScenarioException.class,
        () ->
            Expectation.match(
                JsonParser.parseString("{\"$like\": 1}"), JsonParser.parseString("1"), ""));
  }
}
