import { checkDigests } from "./digests.js";
import { errorJson, type ErrorJson } from "./errorJson.js";
import { ScenarioFailure } from "./failure.js";
import { isObject, type Json, valueAt } from "./json.js";
import { describe, mismatch } from "./matching.js";
import { type Method, methodNamed } from "./methods.js";
import { type Call, type Pair, type Replies } from "./pair.js";
import { type AnswerStep, type CallStep, type Scenario, type Step } from "./scenario.js";
import { Transcript } from "./transcript.js";
import { type Expected, type ExpectedObject, Variables } from "./values.js";

const DEFAULT_TIMEOUT_MS = 60_000;
const HEXADECIMAL = /^([0-9a-f]{2})*$/i;
const EXPECTED = new Set(["reply", "replies", "count", "error"]);
const ERROR_LEAVES = new Set(["code", "reason", "domain", "metadata", "fields"]);
const EXPECTED_OF_ERROR = new Set([...ERROR_LEAVES, "details", "retry"]);

/** How a scenario went. */
export interface Outcome {
  /** Digests checked. */
  readonly digests: number;
  /** What was answered. */
  readonly transcript: Transcript;
  /** What went wrong: where, what was expected, what came. Undefined: nothing. */
  readonly fault: string | undefined;
}

/**
 * Runs one scenario on a pair.
 *
 * @param volatile Names of the fields whose values a server makes anew each time.
 */
export async function runScenario(
  scenario: Scenario,
  pair: Pair,
  volatile: ReadonlySet<string>,
): Promise<Outcome> {
  const run = new Run(pair, new Transcript(volatile));
  let fault: string | undefined;
  for (const [number, step] of scenario.steps.entries()) {
    fault = await faultOf(run.step(number, step), `step ${number}, ${titleOf(step)}`);
    if (fault !== undefined) {
      break;
    }
  }
  run.close();
  return { digests: run.digests, transcript: run.transcript, fault };
}

/** An open or finished call: its method and request, for what is read of it later. */
interface Started {
  readonly method: Method;
  readonly replies: Replies;
}

class Run {
  digests = 0;
  readonly #variables = new Variables();
  readonly #streams = new Map<string, Started>();

  constructor(
    readonly pair: Pair,
    readonly transcript: Transcript,
  ) {}

  async step(number: number, step: Step): Promise<void> {
    switch (step.kind) {
      case "open":
        this.#streams.set(step.open, this.#start(this.#call(step)));
        break;
      case "read":
        await this.#answers(number, step, this.#stream(step.read), step.count);
        break;
      case "cancel":
        this.#stream(step.cancel).replies.cancel();
        break;
      case "call":
        await this.#wholeCall(number, step, step.take);
    }
  }

  /** Ends the streams that are open still. */
  close(): void {
    for (const { replies } of this.#streams.values()) {
      replies.cancel();
    }
  }

  async #wholeCall(
    number: number,
    step: AnswerStep & CallStep,
    take: number | undefined,
  ): Promise<void> {
    const call = this.#call(step);
    const started = this.#start(call);
    const { method, replies } = started;
    try {
      const answers = await this.#answers(number, step, started, take);
      const [first] = call.requests;
      if (replies.ended && replies.error === undefined && first !== undefined) {
        this.digests += checkDigests(method.name, method.decodeRequest(first), answers);
      }
    } finally {
      replies.cancel();
    }
  }

  #start(call: Call): Started {
    return { method: call.method, replies: this.pair.start(call) };
  }

  #stream(name: string): Started {
    const stream = this.#streams.get(name);
    if (stream === undefined) {
      throw new ScenarioFailure(`no stream ${name} is open`);
    }
    return stream;
  }

  #call(step: CallStep): Call {
    const method = methodNamed(step.call);
    const metadata = this.#variables.request(step.metadata ?? {});
    return {
      method,
      requests: this.#requests(method, step),
      metadata: metadata as Record<string, string>,
      timeoutMs: step.timeout_ms ?? DEFAULT_TIMEOUT_MS,
    };
  }

  #requests(method: Method, { request, requests, request_hex: hex }: CallStep): Buffer[] {
    if ([request, requests, hex].filter((given) => given !== undefined).length !== 1) {
      throw new ScenarioFailure("a call has one of request, requests and request_hex");
    }
    if (hex !== undefined) {
      return [bytesOf(this.#variables.request(hex) as string)];
    }
    const json = this.#variables.request(request ?? requests ?? null);
    if (method.clientStreams !== (requests !== undefined)) {
      throw new ScenarioFailure(
        `${method.name} takes ${method.clientStreams ? "" : "no "}requests`,
      );
    }
    const each = method.clientStreams ? (json as Json[]) : [json];
    return each.map((one) => method.encodeRequest(method.request(one)));
  }

  async #answers(
    number: number,
    step: AnswerStep,
    { method, replies }: Started,
    count: number | undefined,
  ): Promise<unknown[]> {
    const answers = await replies.read(count);
    const isCut = count === undefined || answers.length < count;
    const error = isCut && replies.error !== undefined ? errorJson(replies.error) : undefined;
    const told = answers.map(method.replyJson);
    this.#write(number, told, error);
    this.#check(step.expect ?? {}, told, error, method.serverStreams);
    if (count !== undefined && isCut) {
      throw new ScenarioFailure(`expected ${count} replies, got ${answers.length}, then the end`);
    }
    this.#save(step.save ?? {}, method.serverStreams ? told : told[0]);
    return answers;
  }

  #write(number: number, told: readonly Json[], error: ErrorJson | undefined): void {
    for (const [index, reply] of told.entries()) {
      this.transcript.add(number, index, reply);
    }
    if (error !== undefined) {
      this.transcript.add(number, "error", error.leaves);
    }
  }

  #check(expect: Json, told: Json[], error: ErrorJson | undefined, streams: boolean): void {
    const expected = membersOf(this.#variables.expectation(expect), EXPECTED, "an expectation");
    if (error !== undefined && !("error" in expected)) {
      throw new ScenarioFailure(`expected no error, got ${JSON.stringify(error.leaves)}`);
    }
    for (const [name, value] of Object.entries(expected)) {
      if (name === "reply") {
        check(value, streams ? undefined : told[0], "");
      } else if (name === "replies") {
        check(value, told, "");
      } else if (name === "count") {
        check(value, told.length, "/count");
      } else {
        checkError(value, error, told.length);
      }
    }
  }

  #save(save: Readonly<Record<string, string>>, told: Json | undefined): void {
    for (const [name, pointer] of Object.entries(save)) {
      const value = told === undefined ? undefined : valueAt(told, pointer);
      if (value === undefined || value === null || typeof value === "object") {
        throw new ScenarioFailure(`the answer has no text, number or boolean at ${pointer}`);
      }
      this.#variables.set(name, String(value));
    }
  }
}

function checkError(value: Expected, error: ErrorJson | undefined, replies: number): void {
  const expected = membersOf(value, EXPECTED_OF_ERROR, "an error");
  if (error === undefined) {
    throw new ScenarioFailure(
      `at /error: expected ${JSON.stringify(value)}, got ${replies} replies and no error`,
    );
  }
  for (const [name, each] of Object.entries(expected)) {
    if (name === "details") {
      check(each, error.details, "/error/details");
    } else if (name === "retry") {
      check(each, error.retry, "/error/retry");
    } else {
      check({ [name]: each }, error.leaves, "/error");
    }
  }
}

function check(expected: Expected, actual: Json | undefined, pointer: string): void {
  const found = mismatch(expected, actual, pointer);
  if (found !== undefined) {
    throw new ScenarioFailure(describe(found));
  }
}

/** The members of an object that may have no others: a misspelt one must not pass. */
function membersOf(value: Expected, known: ReadonlySet<string>, what: string): ExpectedObject {
  if (!isObject(value)) {
    throw new ScenarioFailure(`${what} is an object`);
  }
  const unknown = Object.keys(value).find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new ScenarioFailure(`${what} has no ${unknown}`);
  }
  return value;
}

function bytesOf(hex: string): Buffer {
  if (!HEXADECIMAL.test(hex)) {
    throw new ScenarioFailure("request_hex is not hexadecimal");
  }
  return Buffer.from(hex, "hex");
}

function titleOf(step: Step): string {
  switch (step.kind) {
    case "open":
      return `open ${step.open}`;
    case "read":
      return `read ${step.read}`;
    case "cancel":
      return `cancel ${step.cancel}`;
    case "call":
      return `call ${step.call}`;
  }
}

async function faultOf(step: Promise<void>, place: string): Promise<string | undefined> {
  try {
    await step;
    return undefined;
  } catch (error) {
    if (error instanceof ScenarioFailure) {
      return `${place}: ${error.message}`;
    }
    throw error;
  }
}
