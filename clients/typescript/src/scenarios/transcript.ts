import { createHash } from "node:crypto";

import { isObject, type Json, pointerTo } from "./json.js";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
};

/** A leaf of a reply. */
interface Leaf {
  readonly pointer: string;
  /** Name of the field that it is, or is listed in. */
  readonly field: string;
  /** A text, a number, a boolean, or an object without members. */
  readonly type: "b" | "n" | "o" | "s";
  readonly text: string;
}

/**
 * What was answered in one scenario, as lines that are the same in every
 * language and at every run.
 */
export class Transcript {
  readonly #lines: string[] = [];
  readonly #uuids = new Map<string, string>();

  /** @param volatile Names of the fields whose values a server makes anew each time. */
  constructor(readonly volatile: ReadonlySet<string>) {}

  /**
   * Writes the leaves of an answer.
   *
   * @param step The step's number.
   * @param reply The reply's number in the step, or `error`.
   * @param value The reply, or what the contract says of the error.
   */
  add(step: number, reply: number | "error", value: Json): void {
    for (const leaf of inOrder(leaves(value))) {
      const fields = [step, reply, leaf.pointer, leaf.type, this.#value(leaf)];
      this.#lines.push(fields.join("\t"));
    }
  }

  /** The lines, each ended by a line feed. */
  text(): string {
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  /** Lower-case hexadecimal SHA-256 of the text in UTF-8. */
  digest(): string {
    return createHash("sha256").update(this.text(), "utf8").digest("hex");
  }

  #value({ field, type, text }: Leaf): string {
    if (type !== "o" && this.volatile.has(field)) {
      return `<${field}>`;
    }
    return text
      .replace(UUID, (uuid) => this.#nameOf(uuid))
      .replace(/[\\\t\n\r]/g, (found) => ESCAPES[found] ?? found);
  }

  #nameOf(uuid: string): string {
    const known = this.#uuids.get(uuid);
    if (known !== undefined) {
      return known;
    }
    const name = `<uuid-${this.#uuids.size + 1}>`;
    this.#uuids.set(uuid, name);
    return name;
  }
}

/** The leaves below a value; nulls and empty lists have none. */
function* leaves(value: Json, pointer = "", field = ""): Generator<Leaf> {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      yield* leaves(each, pointerTo(pointer, index), field);
    }
  } else if (isObject(value)) {
    const members = Object.entries(value);
    if (members.length === 0) {
      yield { pointer, field, type: "o", text: "" };
    }
    for (const [name, each] of members) {
      yield* leaves(each, pointerTo(pointer, name), name);
    }
  } else if (value !== null) {
    yield { pointer, field, type: typeOf(value), text: String(value) };
  }
}

/** In the byte order of the pointers in UTF-8, which is not that of UTF-16. */
function inOrder(found: Iterable<Leaf>): Leaf[] {
  return [...found]
    .map((leaf) => ({ leaf, key: Buffer.from(leaf.pointer, "utf8") }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ leaf }) => leaf);
}

function typeOf(value: boolean | number | string): Leaf["type"] {
  if (typeof value === "string") {
    return "s";
  }
  return typeof value === "number" ? "n" : "b";
}
