"""What is compiled from C gives what Python gives, and nothing is lost where it is not there."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from antiphon.message.v1 import content_block_pb2, message_pb2
from antiphon_client.compiled_parts import WITHOUT, compiled_part
from antiphon_client.minimal_yaml import write_entries
from antiphon_client.minimal_yaml.json_entries import COMPILED_WRITER, JsonEntries
from antiphon_client.minimal_yaml.scalars import COMMON_TEXTS, match_common_text
from compiler_service import digest, turn_encoding
from compiler_service.digest import rows_form, splice_rows_form
from compiler_service.folded.plain import read_records
from compiler_service.folded.stretch import texts_memory
from compiler_service.state import TurnImage, TurnRow
from compiler_service.turn_encoding import encode_rows, splice_rows
from tests.unit.test_minimal_yaml_json import TOKENS, WORDS, separators, values

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "compiled_parts.py"
PARTS = (
    "antiphon_client.minimal_yaml._compiled",
    "compiler_service._compiled",
    "compiler_service.folded._compiled",
)
HEADERS = Path(sysconfig.get_path("include")) / "Python.h"
compiled_here = pytest.mark.skipif(
    any(compiled_part(name) is None for name in PARTS),
    reason="no part was compiled: the machine has no C compiler, or no headers of Python",
)
can_compile = pytest.mark.skipif(
    not (shutil.which("cc") and HEADERS.exists()), reason="needs a C compiler and the headers of Python"
)


@can_compile
def test_they_are_there_where_they_can_be() -> None:
    if not os.environ.get(WITHOUT):
        assert [name for name in PARTS if compiled_part(name) is None] == []


def test_they_can_be_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WITHOUT, "1")
    assert [compiled_part(name) for name in PARTS] == [None] * len(PARTS)


# Minimal YAML

SHORT = st.text(alphabet=" :#-.'\"\\~aYnNo0é\u3000\n\x7f", max_size=6)


@compiled_here
@settings(max_examples=2_000)
@given(SHORT | st.text(max_size=8) | st.sampled_from(WORDS))
def test_common_texts_are_told(text: str) -> None:
    assert bool(COMMON_TEXTS.match(text)) == bool(match_common_text(text))


@compiled_here
def test_every_word_and_every_short_text_is_told() -> None:
    characters = [chr(number) for number in range(0x100)]
    pairs = [one + other for one in characters for other in characters]
    for text in ["", *WORDS, *characters, *pairs, *[f"a{pair}b" for pair in pairs]]:
        assert bool(COMMON_TEXTS.match(text)) == bool(match_common_text(text)), text


def expected(text: str) -> str:
    return write_entries({"output": json.loads(text)}, "  ")


def compiled_entry(text: str) -> str | None:
    """Return what the compiled writer writes; None where it leaves the text to be parsed."""
    written: str | None = COMPILED_WRITER.write("output", 2, text)
    return written


@compiled_here
@settings(max_examples=1_000)
@given(values, separators, st.booleans(), st.sampled_from([None, 1]))
@example({"a": [[], {}, [None], {"b": ""}, [[" "]]]}, (",", ":"), True, None)
@example([{"k": [[1, [2]], {"a": {"b": []}}]}], (",", ":"), True, None)
def test_an_entry_is_that_of_the_value(
    value: Any, style: tuple[str, str], ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, separators=style, ensure_ascii=ascii_only, indent=indent)
    written = compiled_entry(text)
    assert written in (None, expected(text))


@compiled_here
@settings(max_examples=1_000)
@given(values, st.booleans(), st.randoms(use_true_random=False))
def test_a_damaged_text_is_left_to_the_parser(value: Any, ascii_only: bool, random: Random) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    place = random.randint(0, len(text))
    damage = random.choice(["", *'{}[],:"\\0-+.eEtfn \n\x00\x7fé', *TOKENS])
    text = text[:place] + damage + text[place + random.randint(0, 2) :]
    written = compiled_entry(text)
    if written is not None:
        assert written == expected(text)


@compiled_here
def test_what_is_common_is_not_left_to_the_parser() -> None:
    known: list[Any] = [
        0,
        1,
        -12,
        10**30,
        True,
        None,
        "a",
        "yes",
        "2026-05-20",
        "it's",
        'say "x"',
        "é",
        "a\nb",
    ]
    known += [1.5, {}, [], {"a": {"b": [1, {"c": "d"}]}}, [[1, 2], [[3]]], {"a b": 1, "1": 2, "yes": 3}]
    for value in known:
        text = json.dumps(value)
        assert compiled_entry(text) == expected(text)
    left = ['{"a":1,"a":2}', "-0", '{"":1}', '{"\\u0061":1}', '{"a":01}', "[1,]", "NaN", "", '"\\', "[" * 101]
    left += [json.dumps({"k" * 130: 1}), json.dumps({str(number): number for number in range(300)})]
    assert [compiled_entry(text) for text in left] == [None] * len(left)


@compiled_here
def test_nesting_is_followed_as_deep_as_json_text_may_be() -> None:
    for depth in (1, 50, 100):
        text = "[" * depth + "1" + "]" * depth
        assert compiled_entry(text) == expected(text)


@compiled_here
@pytest.mark.parametrize(
    "call",
    [
        lambda: COMPILED_WRITER.write("output", 2),
        lambda: COMPILED_WRITER.write(1, 2, "1"),
        lambda: COMPILED_WRITER.write("output", "2", "1"),
        lambda: COMPILED_WRITER.write("output", 2, b"1"),
        lambda: COMMON_TEXTS.match(b"a"),
        lambda: type(COMPILED_WRITER)(),
        lambda: type(COMMON_TEXTS)(first_characters="a", words=[1], otherwise=len),
        lambda: type(COMMON_TEXTS)(first_characters="a", words=7, otherwise=len),
    ],
)
def test_what_it_cannot_work_with_is_a_type_error(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        call()


@compiled_here
def test_rules_that_it_cannot_hold_are_refused() -> None:
    for rules in (
        {"first_characters": "é", "words": []},
        {"first_characters": "a", "words": ["a" * 9]},
        {"first_characters": "a", "words": ["b"]},
        {"first_characters": "a", "words": ["a"] * 65},
    ):
        with pytest.raises(ValueError, match=r"ASCII|words"):
            type(COMMON_TEXTS)(otherwise=len, **rules)
    for pad in (-1, 1025):
        with pytest.raises(ValueError, match="pad"):
            COMPILED_WRITER.write("output", pad, "1")


@compiled_here
def test_an_error_of_a_rule_is_not_lost() -> None:
    def refuse(*_: object) -> str:
        raise RuntimeError("refused")

    rules = {
        "common_texts": COMMON_TEXTS,
        "kept_characters": 4,
        "write_key": refuse,
        "write_text": refuse,
        "write_short_text": refuse,
        "write_number": refuse,
        "read_text": refuse,
    }
    writer = type(COMPILED_WRITER)(**rules)
    for text in ('"yes"', '"a longer one: yes"', "1.5", '{"yes": 1}', '"\\n"'):
        with pytest.raises(RuntimeError, match="refused"):
            writer.write("output", 2, text)


# Rows

IMAGE = TurnImage("https://example.com/a.png", content_block_pb2.IMAGE_DETAIL_LOW)
ROLES = st.sampled_from([message_pb2.ROLE_USER, message_pb2.ROLE_ASSISTANT])
TEXTS = st.text(max_size=8) | st.sampled_from(["x" * 127, "x" * 128, "é" * 64, "🙂" * 5_000, "y" * 20_000])
ROWS = st.lists(
    st.tuples(ROLES, TEXTS, st.sampled_from([(), (), (), (IMAGE,)]), st.just(("id",))), max_size=6
)


@compiled_here
@given(ROWS)
def test_rows_are_put_together_as_in_python(rows: list[TurnRow]) -> None:
    assert encode_rows(rows) == encode_rows(tuple(rows)) == splice_rows(rows)
    assert rows_form(rows) == splice_rows_form(rows)
    assert texts_memory(rows) == sum(sys.getsizeof(text) for _, text, _, _ in rows)


@compiled_here
@pytest.mark.parametrize("module", [digest, turn_encoding])
def test_what_is_no_row_is_refused(module: ModuleType) -> None:
    put = encode_rows if module is turn_encoding else rows_form
    bad: list[Any] = [
        1,
        [1],
        [(3, "a", ())],
        [(3, b"a", (), ())],
        [("x", "a", (), ())],
        [(3, "\ud800", (), ())],
    ]
    for rows in bad:
        with pytest.raises((TypeError, KeyError, ValueError)):
            put(rows)


# References

MESSAGE = message_pb2.Message(
    id="01000000-0000-4000-8000-00000000000a",
    action_response=message_pb2.ActionResponseContent(
        function="f", output_json='"x"', state=message_pb2.ACTION_RESPONSE_STATE_FINAL
    ),
)
REFERENCES = {
    "entries": lambda: JsonEntries("output", "  ", json.loads).write(
        "f", '{"a": ["é", 1.5, {"yes": "x: y"}]}'
    ),
    "left to the parser": lambda: JsonEntries("output", "  ", json.loads).write("f", '{"a": "b", "a": 1.5}'),
    "common texts": lambda: (COMMON_TEXTS.match("é" * 20), COMMON_TEXTS.match("a b")),
    "rows": lambda: encode_rows([(message_pb2.ROLE_USER, "é" * 20, (), ("id",))]),
    "rows with an image": lambda: encode_rows([(message_pb2.ROLE_USER, "a", (IMAGE,), ())]),
    "form": lambda: rows_form([(message_pb2.ROLE_USER, "é" * 20, (), ("id",))]),
    "messages": lambda: read_records([MESSAGE.id, MESSAGE.id], [MESSAGE.SerializeToString()] * 2, 0),
}


@compiled_here
@pytest.mark.parametrize("work", REFERENCES.values(), ids=REFERENCES)
def test_nothing_is_kept(work: Callable[[], object]) -> None:
    def blocks_after(count: int) -> int:
        for _ in range(count):
            work()
        gc.collect()
        return sys.getallocatedblocks()

    blocks_after(200)
    before = blocks_after(100)
    assert blocks_after(2_000) - before < 200


# Building

STUBBED = re.compile(r"Compiled parts: none, (.*)")


def run_script(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@can_compile
def test_the_compiler_has_no_word_to_say() -> None:
    done = run_script("check")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_compiler_it_says_so_and_goes_on() -> None:
    done = run_script(CC="/nonexistent/cc")
    assert done.returncode == 0
    found = STUBBED.match(done.stderr)
    assert found is not None
    assert found[1].startswith("there is no C compiler")
    assert "Antiphon works without them" in done.stderr
    assert run_script("check", CC="/nonexistent/cc").returncode == 1


@pytest.mark.parametrize(
    ("compiler", "tag"),
    [pytest.param("", sysconfig.get_config_var("SOABI"), marks=can_compile), ("/nonexistent/cc", None)],
)
def test_a_wheel_has_them_where_it_is_built_with_a_compiler(
    tmp_path: Path, compiler: str, tag: str | None
) -> None:
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *WHEEL_FILES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in files.stdout.splitlines():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    environment = {**os.environ, "CC": compiler} if compiler else dict(os.environ)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", wheels],
        cwd=source,
        env=environment,
        capture_output=True,
        check=True,
        timeout=300,
    )
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        modules = sorted(name for name in archive.namelist() if name.endswith(".so"))
    if tag is None:
        assert modules == []
        assert wheel.name.endswith("-py3-none-any.whl")
    else:
        assert modules == sorted(f"{name.replace('.', '/')}.{tag}.so" for name in PARTS)
        assert not wheel.name.endswith("-any.whl")


WHEEL_FILES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "scripts",
    "history_service",
    "compiler_service",
    "clients",
)


@compiled_here
def test_what_they_do_is_done_without_them() -> None:
    """The tests of what they give, in a process that leaves them alone."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *WITHOUT_THEM],
        cwd=ROOT,
        env={**os.environ, WITHOUT: "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:]


WITHOUT_THEM = (
    "tests/golden",
    "tests/unit/test_minimal_yaml_properties.py",
    "tests/unit/test_compile_cache.py",
    "tests/unit/test_compiler_digest.py",
    "tests/contract/test_compiler_cache.py",
)
