import { randomUUID } from "node:crypto";

import { ScenarioFailure } from "./failure.js";
import { isObject, type Json } from "./json.js";

/** `$` and lower-case letters or digits alone: the one key of a value to be made. */
const MAKER_KEY = /^\$[a-z0-9]+$/;
const REFERENCE = /\$\$|\$\{(new:)?([A-Za-z0-9_]+)\}/g;
const LIST_INDEX = "i";

/** What an expectation may hold in place of a value. */
export class Matcher {
  constructor(
    readonly name: MatcherName,
    readonly argument: Expected,
  ) {}

  /** As a scenario writes it. */
  toJSON(): unknown {
    return { [`$${this.name}`]: this.argument };
  }
}

const MATCHER_NAMES = ["absent", "any", "exact", "contains", "sha256", "starts", "bytes"] as const;

export type MatcherName = (typeof MATCHER_NAMES)[number];

/** JSON in which matchers stand for values. */
export type Expected = null | boolean | number | string | Expected[] | ExpectedObject | Matcher;

export interface ExpectedObject {
  [name: string]: Expected;
}

/** The variables of one scenario, and what is made of the values that name them. */
export class Variables {
  readonly #texts = new Map<string, string>();

  /** Keeps a text under a name. */
  set(name: string, text: string): void {
    this.#texts.set(name, text);
  }

  /**
   * Makes what a request's value says.
   *
   * @throws {ScenarioFailure} A name is unknown, or a value cannot be made.
   */
  request(value: Json): Json {
    return this.#resolve(value, refuseMatcher) as Json;
  }

  /**
   * Makes what an expectation says, its matchers left to be matched.
   *
   * @throws {ScenarioFailure} As `request`.
   */
  expectation(value: Json): Expected {
    return this.#resolve(value, (name, argument) => this.#matcher(name, argument));
  }

  #resolve(value: Json, matcher: MatcherMaker): Expected {
    if (typeof value === "string") {
      return this.#replace(value);
    }
    if (Array.isArray(value)) {
      return value.map((each) => this.#resolve(each, matcher));
    }
    return isObject(value) ? this.#object(Object.entries(value), matcher) : value;
  }

  #object(members: [string, Json][], matcher: MatcherMaker): Expected {
    const [first] = members;
    if (members.length === 1 && first !== undefined && MAKER_KEY.test(first[0])) {
      return this.#make(first[0].slice(1), first[1], matcher);
    }
    return Object.fromEntries<Expected>(
      members.map(([name, value]) => [this.#replace(name), this.#resolve(value, matcher)]),
    );
  }

  #make(name: string, argument: Json, matcher: MatcherMaker): Expected {
    switch (name) {
      case "repeat":
        return repeat(this.request(argument));
      case "list":
        return this.#list(argument);
      case "json":
        return JSON.stringify(this.request(argument));
      default:
        return matcher(name, argument);
    }
  }

  #list(argument: Json): Json[] {
    if (!Array.isArray(argument) || argument.length !== 2) {
      throw new ScenarioFailure("$list takes a list of a count and a value");
    }
    const [count, value] = argument as [Json, Json];
    const length = countOf(this.request(count), "$list");
    const outer = this.#texts.get(LIST_INDEX);
    const copies = Array.from({ length }, (_, index) => {
      this.#texts.set(LIST_INDEX, String(index));
      return this.request(value);
    });
    if (outer === undefined) {
      this.#texts.delete(LIST_INDEX);
    } else {
      this.#texts.set(LIST_INDEX, outer);
    }
    return copies;
  }

  #matcher(name: string, argument: Json): Matcher {
    const known = MATCHER_NAMES.find((each) => each === name);
    if (known === undefined) {
      throw new ScenarioFailure(`$${name} is no matcher`);
    }
    return new Matcher(known, this.expectation(argument));
  }

  #replace(text: string): string {
    return text.replace(REFERENCE, (found, isNew: string | undefined, name: string) => {
      if (found === "$$") {
        return "$";
      }
      if (isNew !== undefined) {
        this.set(name, randomUUID());
      }
      const kept = this.#texts.get(name);
      if (kept === undefined) {
        throw new ScenarioFailure(`no variable has the name ${name}`);
      }
      return kept;
    });
  }
}

type MatcherMaker = (name: string, argument: Json) => Matcher;

function refuseMatcher(name: string): never {
  throw new ScenarioFailure(`$${name} does not make a value`);
}

function repeat(argument: Json): string {
  if (!Array.isArray(argument) || argument.length !== 2 || typeof argument[0] !== "string") {
    throw new ScenarioFailure("$repeat takes a list of a text and a count");
  }
  return argument[0].repeat(countOf(argument[1], "$repeat"));
}

function countOf(value: Json | undefined, maker: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new ScenarioFailure(`${maker} takes a count of 0 or more`);
  }
  return value;
}
