"""The driver of all languages: what it compares, counts and reports, on languages made for the tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.polyglot import __main__ as driver
from tests.polyglot import packages
from tests.polyglot.languages import LANGUAGES, PYTHON, Addresses, Language
from tests.polyglot.newcomer import copy_tree, run_blocks, sh_blocks
from tests.polyglot.results import Line, Result, compare, read_lines, table

ADDRESSES = Addresses("127.0.0.1:1", "127.0.0.1:2")


def line(name: str, transcript: str = "t", *, ok: bool = True, digests: int = 1) -> Line:
    return Line(name, ok, 2, digests, transcript)


def result(language: str, *lines: Line) -> Result:
    return Result(language, lines={line.scenario: line for line in lines})


def test_equal_transcripts_of_passed_scenarios_count(tmp_path: Path) -> None:
    reference = result("python", line("a"), line("b", "u"))
    other = result("other", line("a"), line("b", "u", ok=False))
    compare(other, reference, tmp_path)

    assert other.equal == {"a", "b"}
    assert other.passed() == {"a"}
    assert other.failed(["a", "b"])
    assert not other.differences


def test_the_first_line_that_differs_is_told(tmp_path: Path) -> None:
    for language, third in (("python", "3"), ("other", "4")):
        (tmp_path / language).mkdir()
        (tmp_path / language / "a.txt").write_text(f"1\n2\n{third}\n5\n")
    other = result("other", line("a", "v"))
    compare(other, result("python", line("a")), tmp_path)

    assert not other.equal
    (difference,) = other.differences
    assert difference.splitlines() == ["a: line 3 of the transcript", "    expected 3", "    got      4"]


def test_a_transcript_that_ends_early_is_told(tmp_path: Path) -> None:
    for language, text in (("python", "1\n2"), ("other", "1")):
        (tmp_path / language).mkdir()
        (tmp_path / language / "a.txt").write_text(text)
    other = result("other", line("a", "v"))
    compare(other, result("python", line("a")), tmp_path)

    assert other.differences[0].splitlines()[1:] == ["    expected 2", "    got      (the end)"]


def test_other_counts_and_silence_differ(tmp_path: Path) -> None:
    other = result("other", line("a", digests=0))
    compare(other, result("python", line("a"), line("b")), tmp_path)

    assert not other.equal
    assert "2 steps and 0 digests, not 2 and 1" in other.differences[0]
    assert other.differences[1] == "b: the runner said nothing of it"


def test_a_runner_s_lines_are_read() -> None:
    told: dict[str, Any] = {"scenario": "a", "ok": False, "steps": 1, "digests": 0, "transcript": "t"}
    told["message"] = "why\u2028\x85"

    assert read_lines(json.dumps(told, ensure_ascii=False) + "\n") == {"a": Line(**told)}
    for wrong in ("make: nothing", json.dumps({"scenario": "a"}), json.dumps({**told, "more": 1})):
        with pytest.raises(ValueError, match=r"Expecting value|argument"):
            read_lines(wrong)


def test_the_table_has_a_row_for_each_language() -> None:
    other = result("other", line("a"), line("b", ok=False))
    other.steps = {"drift": "ok", "build": "-", "tests": "FAILED", "example": "ok"}
    other.equal = {"a"}

    assert table([other], 3).splitlines() == [
        "language  drift  build  tests   example  scenarios  digests  transcripts",
        "other     ok     -      FAILED  ok       1/3        2        1/3",
    ]


def test_what_a_makefile_installs_is_read_without_installing_it(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(
        "PACKAGES := dpkg no-such-package \\\n\tbash\n"
        "packages:\n\tapt-get -o DPkg::Lock::Timeout=600 install --yes $(PACKAGES)\n\t@npm ci --silent\n"
    )
    language = Language("other", str(tmp_path))

    assert packages.needed(language) == packages.Needed(("dpkg", "no-such-package", "bash"), True)
    assert "no-such-package" in packages.missing(language)
    assert "npm's" in packages.missing(language)
    assert packages.may_install(["npm's"])


def test_every_language_has_a_command_for_every_step() -> None:
    assert [language.name for language in LANGUAGES] == ["python", "typescript", "go", "java", "ruby"]
    for language in LANGUAGES[1:]:
        command = language.command("scenarios", ADDRESSES, Path("/tmp/with a space"))
        assert command is not None
        assert command[4:] == (
            str(language.path),
            "scenarios",
            "HISTORY=127.0.0.1:1",
            "COMPILER=127.0.0.1:2",
            "ARGS=--transcripts '/tmp/with a space'",
        )
    assert PYTHON.command("build", ADDRESSES, Path()) is None


SAYS = """
import hashlib, json, pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index("--transcripts") + 1])
folder.mkdir(parents=True, exist_ok=True)
text = {text!r}
(folder / "one.txt").write_text(text)
digest = hashlib.sha256(text.encode()).hexdigest()
print(json.dumps(dict(scenario="one", ok=True, steps=1, digests=0, transcript=digest)))
"""


def language(folder: Path, name: str, text: str = "0\t0\t\to\t\n", example: str = "story\n") -> Language:
    """Make a language whose runner and example say fixed texts."""
    folder.joinpath("Makefile").touch()
    say = (sys.executable, "-c", SAYS.format(text=text))
    steps = {"scenarios": say, "example": (sys.executable, "-c", f"print({example!r}, end='')")}
    return Language(name, str(folder), {**steps, "tests": (sys.executable, "-c", "")})


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the driver on a stage without services: one scenario, a story, an output folder."""

    @contextmanager
    def no_services(*_: object) -> Iterator[Addresses]:
        yield ADDRESSES

    class One:
        name = "one"

    (tmp_path / "story.txt").write_text("story\n")
    monkeypatch.setattr(driver, "running_services", no_services)
    monkeypatch.setattr(driver, "load_all", lambda _: [One()])
    monkeypatch.setattr(driver, "OUTPUT", tmp_path / "output")
    monkeypatch.setattr(driver, "EXAMPLE_OUTPUT", tmp_path / "story.txt")
    return tmp_path


def run_driver(monkeypatch: pytest.MonkeyPatch, *languages: Language) -> int:
    monkeypatch.setattr(driver, "LANGUAGES", languages)
    monkeypatch.setattr(driver, "PYTHON", languages[0])
    return driver.main(["--skip-packages"])


def test_languages_that_agree_pass(
    stage: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_driver(monkeypatch, language(stage, "python"), language(stage, "other")) == 0
    out = capsys.readouterr().out.splitlines()

    assert [row.split() for row in out[1:3]] == [
        ["python", "-", "-", "ok", "ok", "1/1", "0", "1/1"],
        ["other", "-", "-", "ok", "ok", "1/1", "0", "1/1"],
    ]
    assert out[-1] == "2 passed, 0 failed"


def test_a_language_that_hears_another_answer_fails(
    stage: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = language(stage, "other", text="0\t0\t/a\ts\tb\n")

    assert run_driver(monkeypatch, language(stage, "python"), other) == 1
    out = capsys.readouterr().out
    assert (
        "other: one: line 1 of the transcript\n    expected 0\t0\t\to\t\n    got      0\t0\t/a\ts\tb\n" in out
    )
    assert out.endswith("1 passed, 1 failed\n")


def test_an_example_that_tells_another_story_fails(
    stage: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = language(stage, "other", example="another\n")

    assert run_driver(monkeypatch, language(stage, "python"), other) == 1
    captured = capsys.readouterr()
    assert captured.out.endswith("2 passed, 1 failed\n")
    assert "    another" in captured.err


@pytest.mark.parametrize("step", ["drift", "build", "tests", "scenarios"])
def test_a_step_that_fails_fails_the_run(
    stage: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], step: str
) -> None:
    good = language(stage, "other")
    assert good.commands is not None
    fails = (sys.executable, "-c", "print('it broke'); raise SystemExit(3)")
    bad = Language("other", good.folder, {**good.commands, step: fails})

    assert run_driver(monkeypatch, language(stage, "python"), bad) == 1
    captured = capsys.readouterr()
    passed, failed = {"build": (1, 2), "scenarios": (1, 1)}.get(step, (2, 1))
    assert "it broke" in captured.err
    assert captured.out.endswith(f"{passed} passed, {failed} failed\n")


def test_a_client_that_is_not_there_fails(stage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_driver(monkeypatch, language(stage, "python"), Language("other", str(stage / "none"))) == 1


README = """# A

```sh
mkdir made
echo one
```

```
not this
```

```sh
test -d made
echo two $HOME $ANTIPHON_HISTORY
```
"""


def test_a_readme_s_blocks_are_run_in_order_at_home_in_an_empty_folder(tmp_path: Path) -> None:
    blocks = sh_blocks(README)

    assert len(blocks) == 2
    printed = run_blocks(blocks, tmp_path, tmp_path / "home", ADDRESSES)
    assert printed == f"one\ntwo {tmp_path}/home 127.0.0.1:1\n"
    assert run_blocks(["false\necho on\n"], tmp_path, tmp_path, ADDRESSES) is None


def test_a_copy_has_what_git_knows_or_would(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    git = ("git", "-c", "user.name=n", "-c", "user.email=e@example.com")
    (source / "committed").write_text("1")
    (source / ".gitignore").write_text("ignored\n")
    for arguments in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "m")):
        subprocess.run([*git, *arguments], cwd=source, check=True)
    (source / "new").write_text("2")
    (source / "ignored").write_text("3")

    for uncommitted, names in ((False, {"committed"}), (True, {"committed", "new"})):
        target = tmp_path / str(uncommitted)
        copy_tree(source, target, uncommitted=uncommitted)
        assert {path.name for path in target.iterdir() if not path.name.startswith(".git")} == names
