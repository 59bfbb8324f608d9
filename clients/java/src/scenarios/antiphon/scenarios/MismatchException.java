package antiphon.scenarios;

/** An answer is not the one expected. */
final class MismatchException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String pointer;

  /** Says where, as a JSON pointer, what was expected, and what came. */
  MismatchException(String pointer, String expected, String actual) {
    super(
        "at " + (pointer.isEmpty() ? "the top" : pointer) + ": expected " + expected + ", got "
            + actual);
    this.pointer = pointer;
  }

  String pointer() {
    return pointer;
  }
}
