"""Every client on one running pair: packages, drift, build, tests, example, scenarios, and one table.

    python -m tests.polyglot

runs all languages; ``--help`` says what else. It exits 0 when everything passed in
every language with the same transcripts, and 1 otherwise. Progress goes to standard
error, the table and the closing line to standard output. Logs and transcripts stay
in ``build/polyglot``.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.polyglot import packages
from tests.polyglot.languages import LANGUAGES, PYTHON, ROOT, STEPS, Addresses, Language
from tests.polyglot.results import Result, compare, read_lines, table
from tests.polyglot.scenario import FOLDER, load_all
from tests.polyglot.seeds import SEEDS
from tests.polyglot.services import running_services

OUTPUT = ROOT / "build" / "polyglot"
EXAMPLE_OUTPUT = ROOT / "clients" / "example-output.txt"

_SHOWN_LINES = 40
_SHOWN_DIFFERENCES = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the languages and print the table; return the exit code."""
    options = _parser().parse_args(arguments)
    chosen = [language for language in LANGUAGES if options.only is None or language.name in options.only]
    names = [scenario.name for scenario in load_all(FOLDER)]
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir(parents=True)
    with (
        tempfile.TemporaryDirectory(prefix="antiphon-") as folder,
        running_services(Path(folder), options.seed) as addresses,
    ):
        results = _run_all(chosen, addresses, skip_packages=options.skip_packages)
    print(table(results, len(names)))
    for result in results:
        for difference in result.differences[:_SHOWN_DIFFERENCES]:
            print(f"{result.language}: {difference}")
    passed = sum(len(result.passed()) for result in results)
    failed = len(names) * len(results) - passed + sum(len(result.failed_steps()) for result in results)
    print(f"{passed} passed, {failed} failed")
    return 1 if any(result.failed(names) for result in results) else 0


def _parser() -> argparse.ArgumentParser:
    names = [language.name for language in LANGUAGES]
    parser = argparse.ArgumentParser(
        prog="python -m tests.polyglot",
        description="Run every client's checks, build, tests, example and scenarios on one pair.",
        epilog="examples: --only go java; --skip-packages; --only go --seed trims_text, which must fail",
    )
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="LANGUAGE", help=f"these alone: {', '.join(names)}"
    )
    parser.add_argument(
        "--seed", choices=SEEDS, metavar="FAULT", help=f"serve with a known fault: {', '.join(SEEDS)}"
    )
    parser.add_argument("--skip-packages", action="store_true", help="take what is installed as enough")
    return parser


def _run_all(languages: Sequence[Language], addresses: Addresses, *, skip_packages: bool) -> list[Result]:
    """Run the languages; Python's scenarios come first always, as the others are compared with them."""
    reference = Result(PYTHON.name)
    results = [reference]
    if PYTHON in languages:
        _run(PYTHON, reference, addresses, STEPS)
    else:
        _run(PYTHON, reference, addresses, ("scenarios",))
    compare(reference, reference, OUTPUT)
    for language in languages:
        if language is not PYTHON:
            result = Result(language.name)
            results.append(result)
            if _is_there(language) and (skip_packages or _install(language)):
                _run(language, result, addresses, STEPS)
            else:
                result.steps["build"] = "FAILED"
            compare(result, reference, OUTPUT)
    return results


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _is_there(language: Language) -> bool:
    if (language.path / "Makefile").exists():
        return True
    _say(f"{language.name}: there is no client in {language.folder}")
    return False


def _install(language: Language) -> bool:
    """Install a language's packages where some are missing; return whether all are there then."""
    names = packages.missing(language)
    if not names:
        return True
    if not packages.may_install(names):
        _say(f"{language.name}: these packages are missing: {' '.join(names)}")
        _say(f"{language.name}: as root, run: make -C {language.folder} packages")
        return False
    _say(f"{language.name}: installing {' '.join(names)}")
    command = ("make", "--no-print-directory", "-C", str(language.path), "packages")
    return _execute(language, "packages", command, {}) is not None


def _run(language: Language, result: Result, addresses: Addresses, steps: Sequence[str]) -> None:
    transcripts = OUTPUT / language.name
    for step in steps:
        command = language.command(step, addresses, transcripts)
        if command is None:
            result.steps[step] = "-"
            continue
        output = _execute(language, step, command, addresses.environment())
        if step == "scenarios":
            _take_scenarios(language, result)
        elif output is not None and step == "example":
            output = _checked_example(language, output)
        result.steps[step] = "FAILED" if output is None else "ok"
        if output is None and step == "build":
            return


def _execute(
    language: Language, step: str, command: Sequence[str], environment: dict[str, str]
) -> str | None:
    """Run a step's command, its output into a log; return its standard output, None if it failed."""
    log = _log(language, step)
    start = time.monotonic()
    _say(f"{language.name}: {step} ...")
    with log.open("wb") as output, log.with_suffix(".err").open("wb") as errors:
        code = subprocess.run(
            command, cwd=ROOT, env=os.environ | environment, stdout=output, stderr=errors, check=False
        ).returncode
    _say(f"{language.name}: {step} {'ok' if code == 0 else 'FAILED'} ({time.monotonic() - start:.1f} s)")
    if code == 0:
        return log.read_text(encoding="utf-8")
    _say(f"    {shlex.join(command)} ended with {code}")
    # What a runner says of each scenario is told when it is read.
    for path in (log.with_suffix(".err"),) if step == "scenarios" else (log, log.with_suffix(".err")):
        _show(path.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN_LINES:])
    return None


def _show(lines: Sequence[str]) -> None:
    for line in lines:
        _say(f"    {line}")


def _log(language: Language, step: str) -> Path:
    return OUTPUT / f"{language.name}-{step}.log"


def _take_scenarios(language: Language, result: Result) -> None:
    """Read what the runner said, whether or not all passed."""
    try:
        result.lines = read_lines(_log(language, "scenarios").read_text(encoding="utf-8"))
    except ValueError as error:
        _say(f"{language.name}: this is no line of a runner: {error}")
    _show([f"{line.scenario}: {line.message}" for line in result.lines.values() if not line.ok])


def _checked_example(language: Language, output: str) -> str | None:
    expected = EXAMPLE_OUTPUT.read_text(encoding="utf-8")
    if output == expected:
        return output
    _say(f"{language.name}: the example's output is not clients/example-output.txt:")
    _show(output.splitlines())
    return None


if __name__ == "__main__":
    sys.exit(main())
