package antiphon;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.Test;

public class RequestIdsTest {
  private static String at(String instant, long random) {
    return RequestIds.create(Clock.fixed(Instant.parse(instant), ZoneOffset.UTC), random);
  }

  @Test
  public void isCanonicalAndFresh() {
    String id = RequestIds.create();

    assertTrue(
        id, id.matches("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    assertNotEquals(id, RequestIds.create());
  }

  @Test
  public void holdsItsInstant() {
    // 0x017f22e279b0 milliseconds, as in RFC 9562's example; half a millisecond more is 0x800.
    assertEquals("017f22e2-79b0-7000-8000-000000000000", at("2022-02-22T19:22:22Z", 0));
    assertEquals("017f22e2-79b0-7800-bfff-ffffffffffff", at("2022-02-22T19:22:22.000500Z", -1));
  }

  @Test
  public void growsWithTime() {
    String before = at("2026-01-02T03:04:05.000999Z", -1);
    String after = at("2026-01-02T03:04:05.001Z", 0);

    assertTrue(before.compareTo(after) < 0);
  }
}
