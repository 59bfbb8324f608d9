package antiphon;

import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.util.UUID;

/**
 * Ids for {@code request_id}, in the canonical lower-case text that the services take.
 *
 * <p>A write under one id is done once, however often it is sent: keep the id until the write is
 * answered, and send the same request with it again after UNAVAILABLE or DEADLINE_EXCEEDED.
 */
public final class RequestIds {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final long VERSION = 7L << 12;
  private static final long VARIANT = 0b10L << 62;
  private static final long RANDOM_BITS = (1L << 62) - 1;
  private static final int NANOS_PER_MILLI = 1_000_000;

  private RequestIds() {}

  /**
   * Returns a fresh id: a UUID of version 7.
   *
   * <p>Such ids grow with time, so that the store writes them to one end of its index. They suit
   * messages too.
   */
  public static String create() {
    return create(Clock.systemUTC(), RANDOM.nextLong());
  }

  /** Returns the id of an instant: 48 bits of milliseconds, 12 of their fraction, 62 random. */
  static String create(Clock clock, long random) {
    Instant now = clock.instant();
    long fraction = ((long) (now.getNano() % NANOS_PER_MILLI) << 12) / NANOS_PER_MILLI;
    long high = (now.toEpochMilli() << 16) | VERSION | fraction;
    return new UUID(high, VARIANT | (random & RANDOM_BITS)).toString();
  }
}
