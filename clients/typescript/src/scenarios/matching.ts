import { createHash } from "node:crypto";

import { ScenarioFailure } from "./failure.js";
import { isObject, type Json, member, pointerTo } from "./json.js";
import { type Expected, type ExpectedObject, Matcher, type MatcherName } from "./values.js";

const LONGEST_SHOWN = 200;

/** What of an answer is not as expected. */
export interface Mismatch {
  /** JSON pointer to it. */
  readonly pointer: string;
  /** What was expected, as the scenario writes it. */
  readonly expected: Expected;
  /** What came; undefined: nothing. */
  readonly actual: Json | undefined;
}

/**
 * Matches an answer with what was expected of it.
 *
 * @param expected The expectation, its variables replaced.
 * @param actual The answer; undefined where there is none.
 * @param pointer JSON pointer to the answer.
 * @returns The first thing that does not match. Undefined: everything matches.
 * @throws {ScenarioFailure} A matcher's argument is none.
 */
export function mismatch(
  expected: Expected,
  actual: Json | undefined,
  pointer = "",
): Mismatch | undefined {
  if (expected instanceof Matcher) {
    return mismatchWithMatcher(expected, actual, pointer);
  }
  if (Array.isArray(expected)) {
    return mismatchOfLists(expected, actual, pointer);
  }
  if (isExpectedObject(expected)) {
    return mismatchOfObjects(expected, actual, pointer);
  }
  return expected === actual ? undefined : { pointer, expected, actual };
}

/** Says a mismatch in words. */
export function describe({ pointer, expected, actual }: Mismatch): string {
  return `at ${pointer || "the top"}: expected ${shown(expected)}, got ${shown(actual)}`;
}

function mismatchOfLists(
  expected: Expected[],
  actual: Json | undefined,
  pointer: string,
): Mismatch | undefined {
  if (!Array.isArray(actual) || actual.length !== expected.length) {
    return { pointer, expected, actual };
  }
  return first(expected.entries(), ([index, each]) =>
    mismatch(each, actual[index], pointerTo(pointer, index)),
  );
}

function mismatchOfObjects(
  expected: ExpectedObject,
  actual: Json | undefined,
  pointer: string,
): Mismatch | undefined {
  if (!isObject(actual)) {
    return { pointer, expected, actual };
  }
  return first(Object.entries(expected), ([name, value]) =>
    mismatch(value, member(actual, name), pointerTo(pointer, name)),
  );
}

function mismatchWithMatcher(
  matcher: Matcher,
  actual: Json | undefined,
  pointer: string,
): Mismatch | undefined {
  const { name, argument } = matcher;
  if (name === "exact") {
    return mismatchOfExact(argument, actual, pointer);
  }
  return HOLDS[name](argument, actual) ? undefined : { pointer, expected: matcher, actual };
}

function mismatchOfExact(
  wanted: Expected,
  actual: Json | undefined,
  pointer: string,
): Mismatch | undefined {
  checkArgument(isExpectedObject(wanted), "$exact takes an object");
  return mismatchOfObjects(wanted, actual, pointer) ?? surplus(wanted, actual, pointer);
}

/** The first member that an object has beyond those wanted. */
function surplus(
  wanted: ExpectedObject,
  actual: Json | undefined,
  pointer: string,
): Mismatch | undefined {
  const members = isObject(actual) ? Object.entries(actual) : [];
  const found = members.find(([name]) => !Object.hasOwn(wanted, name));
  if (found === undefined) {
    return undefined;
  }
  const [name, value] = found;
  return {
    pointer: pointerTo(pointer, name),
    expected: new Matcher("absent", true),
    actual: value,
  };
}

/** Whether an answer is what a matcher with that argument takes; `$exact` is matched by member. */
type Holds = (argument: Expected, actual: Json | undefined) => boolean;

const HOLDS: Readonly<Record<Exclude<MatcherName, "exact">, Holds>> = {
  absent: (argument, actual) => {
    checkArgument(argument === true, "$absent takes true");
    return actual === undefined;
  },
  any: (argument, actual) => {
    checkArgument(argument === true, "$any takes true");
    return actual !== undefined;
  },
  contains: (argument, actual) => {
    checkArgument(Array.isArray(argument), "$contains takes a list");
    return Array.isArray(actual) && argument.every((each) => actual.some(matches(each)));
  },
  sha256: (argument, actual) => typeof actual === "string" && sha256(actual) === argument,
  starts: (argument, actual) => {
    checkArgument(typeof argument === "string", "$starts takes a text");
    return typeof actual === "string" && actual.startsWith(argument);
  },
  bytes: (argument, actual) =>
    typeof actual === "string" && Buffer.byteLength(actual, "utf8") === argument,
};

function matches(expected: Expected): (actual: Json) => boolean {
  return (actual) => mismatch(expected, actual) === undefined;
}

function checkArgument(isRight: boolean, rule: string): asserts isRight {
  if (!isRight) {
    throw new ScenarioFailure(rule);
  }
}

function isExpectedObject(value: Expected): value is ExpectedObject {
  return isObject(value) && !(value instanceof Matcher);
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

function first<T>(
  items: Iterable<T>,
  find: (item: T) => Mismatch | undefined,
): Mismatch | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

function shown(value: Expected | undefined): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > LONGEST_SHOWN
    ? `${text.slice(0, LONGEST_SHOWN)}... (${text.length} characters)`
    : text;
}
