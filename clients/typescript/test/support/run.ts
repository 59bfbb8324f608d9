import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext } from "node:test";

import { type UntypedServiceImplementation } from "@grpc/grpc-js";

import { type Json } from "../../src/scenarios/json.js";
import { Pair } from "../../src/scenarios/pair.js";
import { type Outcome, runScenario } from "../../src/scenarios/run.js";
import { loadScenarios, type Scenario } from "../../src/scenarios/scenario.js";
import { serveCompiler, serveHistory } from "./servers.js";

/** Reads steps as a scenario's file says them. */
export function scenarioOf(steps: Json[]): Scenario {
  const folder = mkdtempSync(join(tmpdir(), "scenario-"));
  try {
    const told = { name: "it", about: "About.", topics: [], steps };
    writeFileSync(join(folder, "it.json"), JSON.stringify(told));
    writeFileSync(join(folder, "volatile.json"), "[]");
    const [scenario] = loadScenarios(folder);
    assert.ok(scenario !== undefined);
    return scenario;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs steps on servers of this process that have some methods. */
export async function run(
  t: TestContext,
  methods: UntypedServiceImplementation,
  steps: Json[],
): Promise<Outcome> {
  const scenario = scenarioOf(steps);
  const history = await serveHistory(methods);
  const compiler = await serveCompiler(methods);
  const pair = new Pair({ history: history.address, compiler: compiler.address });
  t.after(() => {
    pair.close();
    history.stop();
    compiler.stop();
  });
  return runScenario(scenario, pair, new Set(["incarnation"]));
}
