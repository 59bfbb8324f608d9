/** The scenario does not hold, or is not one; the message says where and why. */
export class ScenarioFailure extends Error {
  override readonly name = "ScenarioFailure";
}
