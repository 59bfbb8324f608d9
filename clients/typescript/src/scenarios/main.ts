#!/usr/bin/env node
/**
 * The TypeScript runner of the shared scenarios. Its command line and output
 * are those of tests/contract/scenarios/README.md.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type Options, parseOptions, USAGE, UsageError } from "./options.js";
import { Pair } from "./pair.js";
import { type Outcome, runScenario } from "./run.js";
import { loadScenarios, loadVolatile, type Scenario } from "./scenario.js";

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  const volatile = loadVolatile(options.scenarios);
  const scenarios = chosen(loadScenarios(options.scenarios), options.only);
  const pair = new Pair({ history: options.history, compiler: options.compiler });
  let failed = false;
  try {
    for (const scenario of scenarios) {
      const outcome = await runScenario(scenario, pair, volatile);
      failed ||= outcome.fault !== undefined;
      report(scenario, outcome, options);
    }
  } finally {
    pair.close();
  }
  return failed ? 1 : 0;
}

function chosen(scenarios: Scenario[], names: readonly string[] | undefined): Scenario[] {
  if (names === undefined) {
    return scenarios;
  }
  const known = new Set(scenarios.map(({ name }) => name));
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new UsageError(`there is no scenario ${unknown.join(", ")}`);
  }
  return scenarios.filter(({ name }) => names.includes(name));
}

function report(scenario: Scenario, outcome: Outcome, options: Options): void {
  const line = {
    scenario: scenario.name,
    ok: outcome.fault === undefined,
    steps: scenario.steps.length,
    digests: outcome.digests,
    transcript: outcome.transcript.digest(),
    message: outcome.fault,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  if (options.transcripts !== undefined) {
    mkdirSync(options.transcripts, { recursive: true });
    const path = join(options.transcripts, `${scenario.name}.txt`);
    writeFileSync(path, outcome.transcript.text(), "utf8");
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`scenarios: ${text}\n${error instanceof UsageError ? USAGE : ""}`);
  process.exitCode = 2;
}
