import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { ScenarioFailure } from "./failure.js";
import { isObject, type Json, type JsonObject } from "./json.js";

const VOLATILE = "volatile.json";

/** One scenario as its file says it. */
export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** What of a call a step says. */
export interface CallStep {
  readonly call: string;
  readonly request?: Json;
  readonly requests?: Json;
  readonly request_hex?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly timeout_ms?: number;
}

/** What of the answers a step says. */
export interface AnswerStep {
  readonly expect?: Json;
  readonly save?: Readonly<Record<string, string>>;
}

/** One step, by its kind. */
export type Step =
  | (AnswerStep & CallStep & { readonly kind: "call"; readonly take?: number })
  | (AnswerStep & { readonly kind: "read"; readonly read: string; readonly count?: number })
  | (CallStep & { readonly kind: "open"; readonly open: string })
  | { readonly kind: "cancel"; readonly cancel: string };

type Check = (value: Json) => boolean;

const isText: Check = (value) => typeof value === "string";
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isAnything: Check = () => true;
const isTexts: Check = (value) => isObject(value) && Object.values(value).every(isText);

const CALL: Readonly<Record<string, Check>> = {
  call: isText,
  request: isAnything,
  requests: isAnything,
  request_hex: isText,
  metadata: isTexts,
  timeout_ms: isCount,
};
const ANSWER: Readonly<Record<string, Check>> = { expect: isObject, save: isTexts };

/** The members of each kind of step; the kind is a member that only it has, or `call`. */
const MEMBERS: Readonly<Record<Step["kind"], Readonly<Record<string, Check>>>> = {
  open: { open: isText, ...CALL },
  read: { read: isText, count: isCount, ...ANSWER },
  cancel: { cancel: isText },
  call: { ...CALL, take: isCount, ...ANSWER },
};

/**
 * Reads every scenario of a folder, in the order of their files' names.
 *
 * @throws {ScenarioFailure} A file is no scenario.
 */
export function loadScenarios(folder: string): Scenario[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json") && name !== VOLATILE)
    .map((name) => Buffer.from(name, "utf8"))
    .sort((a, b) => Buffer.compare(a, b))
    .map((name) => load(join(folder, name.toString("utf8"))));
}

/** Reads the names of the fields whose values a server makes anew each time. */
export function loadVolatile(folder: string): ReadonlySet<string> {
  return new Set(JSON.parse(readFileSync(join(folder, VOLATILE), "utf8")) as string[]);
}

function load(path: string): Scenario {
  const name = basename(path, ".json");
  const told = JSON.parse(readFileSync(path, "utf8")) as Json;
  if (!isObject(told) || Object.keys(told).toSorted().join() !== "about,name,steps,topics") {
    throw new ScenarioFailure(`${name}: not a name, an about, topics and steps`);
  }
  if (told["name"] !== name || !Array.isArray(told["steps"])) {
    throw new ScenarioFailure(`${name}: another name than the file's, or no steps`);
  }
  return {
    name,
    steps: told["steps"].map((step, number) => stepOf(step, `${name}: step ${number}`)),
  };
}

function stepOf(told: Json, place: string): Step {
  if (!isObject(told)) {
    throw new ScenarioFailure(`${place} is no object`);
  }
  const kind = kindOf(told);
  const members = MEMBERS[kind];
  for (const [name, value] of Object.entries(told)) {
    if (members[name]?.(value) !== true) {
      throw new ScenarioFailure(`${place} has a ${name} that it cannot have`);
    }
  }
  if (!(kind in told) || (kind === "open" && !("call" in told))) {
    throw new ScenarioFailure(`${place} is of no kind`);
  }
  return { ...told, kind } as unknown as Step;
}

function kindOf(told: JsonObject): Step["kind"] {
  const kinds = ["open", "read", "cancel"] as const;
  return kinds.find((kind) => Object.hasOwn(told, kind)) ?? "call";
}
