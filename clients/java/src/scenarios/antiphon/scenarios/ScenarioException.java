package antiphon.scenarios;

/** The scenario itself is wrong: it says something that the format has not. */
final class ScenarioException extends RuntimeException {
  private static final long serialVersionUID = 1;

  ScenarioException(String message) {
    super(message);
  }
}
