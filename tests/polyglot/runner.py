"""The Python runner of the shared scenarios: bare gRPC, no SDK.

    python -m tests.polyglot.runner --history HOST:PORT --compiler HOST:PORT

writes one JSON object for each scenario to standard output, in the form that the
scenarios' README fixes for the runners of all languages.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.polyglot.calls import Pair
from tests.polyglot.faults import ScenarioError
from tests.polyglot.running import Outcome, run
from tests.polyglot.scenario import FOLDER, Scenario, load_all, load_volatile


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the scenarios; return 0 when all passed, 1 when one failed, 2 on wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        volatile = load_volatile(options.scenarios)
        scenarios = _chosen(load_all(options.scenarios), options.only)
    except (OSError, ValueError, ScenarioError) as error:
        sys.stderr.write(f"runner: {error}\n")
        return 2
    if options.transcripts is not None:
        options.transcripts.mkdir(parents=True, exist_ok=True)
    failed = False
    with Pair(options.history, options.compiler) as pair:
        for scenario in scenarios:
            outcome = run(scenario, pair, volatile)
            failed = failed or outcome.fault is not None
            print(json.dumps(_line(scenario, outcome), ensure_ascii=False), flush=True)
            if options.transcripts is not None:
                (options.transcripts / f"{scenario.name}.txt").write_bytes(outcome.transcript.text().encode())
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="runner", description="Run the shared scenarios on a running pair.")
    parser.add_argument("--history", required=True, metavar="HOST:PORT", help="the history service")
    parser.add_argument("--compiler", required=True, metavar="HOST:PORT", help="the compiler service")
    parser.add_argument("--scenarios", type=Path, default=FOLDER, metavar="DIR", help="the scenarios' folder")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="run these alone")
    parser.add_argument("--transcripts", type=Path, metavar="DIR", help="write NAME.txt for each there")
    return parser


def _chosen(scenarios: list[Scenario], names: Sequence[str] | None) -> list[Scenario]:
    if names is None:
        return scenarios
    unknown = set(names) - {scenario.name for scenario in scenarios}
    if unknown:
        raise ScenarioError(f"there is no scenario {', '.join(sorted(unknown))}")
    return [scenario for scenario in scenarios if scenario.name in names]


def _line(scenario: Scenario, outcome: Outcome) -> dict[str, object]:
    told: dict[str, object] = {
        "scenario": scenario.name,
        "ok": outcome.fault is None,
        "steps": len(scenario.steps),
        "digests": outcome.digests,
        "transcript": outcome.transcript.digest(),
    }
    return told if outcome.fault is None else {**told, "message": outcome.fault}


if __name__ == "__main__":
    sys.exit(main())
