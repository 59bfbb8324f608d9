import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** What the runner is told on its command line. */
export interface Options {
  /** Address of the history service. */
  readonly history: string;
  /** Address of the compiler service. */
  readonly compiler: string;
  /** The folder of the scenarios. */
  readonly scenarios: string;
  /** Names of the scenarios to run. Undefined: all. */
  readonly only: readonly string[] | undefined;
  /** The folder for transcripts. Undefined: none are written. */
  readonly transcripts: string | undefined;
}

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const USAGE =
  "usage: scenarios --history HOST:PORT --compiler HOST:PORT" +
  " [--scenarios DIR] [--only NAME ...] [--transcripts DIR]\n";

/** The repository's own, seen from build/src/scenarios. */
const SCENARIOS = new URL("../../../../../tests/contract/scenarios", import.meta.url);

/**
 * Reads the command line.
 *
 * @throws {UsageError} It is wrong.
 */
export function parseOptions(args: readonly string[]): Options {
  const { values, names } = parse(args);
  const { history, compiler, only, transcripts } = values;
  if (history === undefined || compiler === undefined) {
    throw new UsageError("the addresses of both services are needed");
  }
  if (names.length > 0 && only === undefined) {
    throw new UsageError(`what is ${names.join(" ")}?`);
  }
  return {
    history,
    compiler,
    scenarios: values.scenarios ?? fileURLToPath(SCENARIOS),
    only: only && [...only, ...names],
    transcripts,
  };
}

interface Parsed {
  values: {
    history?: string | undefined;
    compiler?: string | undefined;
    scenarios?: string | undefined;
    only?: string[] | undefined;
    transcripts?: string | undefined;
  };
  names: string[];
}

function parse(args: readonly string[]): Parsed {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      // `--only` takes several names; those after the first stand alone.
      allowPositionals: true,
      options: {
        history: { type: "string" },
        compiler: { type: "string" },
        scenarios: { type: "string" },
        only: { type: "string", multiple: true },
        transcripts: { type: "string" },
      },
    });
    return { values, names: positionals };
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
