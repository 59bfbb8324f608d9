"""Token counters: the estimate and its error, and the exact ones from local vocabularies."""

from __future__ import annotations

import builtins
import gzip
import hashlib
import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from antiphon.compiler.v1.target_pb2 import ListTargetsRequest
from antiphon_client.errors import FieldInvalidError
from antiphon_client.limits import DEFAULT_LIMITS
from compiler_service.servicer import CompilerServicer
from compiler_service.settings import CompilerSettings
from compiler_service.tokens import ESTIMATE_ONLY, TURN_TOKENS, Counters
from compiler_service.tokens.encodings import (
    ENCODINGS,
    EncodingCounter,
    VocabularyError,
    find_vocabulary,
    read_vocabulary,
)
from tests.support.compiler import compile_inline, request_of
from tests.support.vocabularies import vocabulary_folder
from tests.support.windows import plan_window, user

EXACT = sorted(ENCODINGS)


@pytest.fixture(scope="module")
def folder() -> Path:
    return vocabulary_folder()


@pytest.fixture(scope="module")
def exact(folder: Path) -> Counters:
    return Counters(folder)


def texts_of(data: Path) -> Iterator[str]:
    """Yield every text and every call's arguments of the shared conversations."""
    for line in (data / "tau-airline" / "transcripts.jsonl").read_text("utf-8").splitlines():
        yield from _texts(json.loads(line))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and "role" in value:
        if isinstance(value.get("content"), str) and value["content"]:
            yield value["content"]
        yield from (call["function"]["arguments"] for call in value.get("tool_calls") or ())
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("word", 1),
        ("word word", 2),
        ("a" * 8, 1),
        ("a" * 9, 2),
        (" " + "a" * 8, 1),
        ("1234", 2),
        ("...!", 2),
        (" ", 0),
        ("  ", 1),
        ("\n", 1),
        ("a\n\n  b", 3),
        ("\x00\x01", 1),
        ("éé", 1),
        ("ééé", 2),
        ("東京都", 3),
        ("🙂🙂", 2),
        ('{"a": 1}', 5),
    ],
)
def test_the_estimate_follows_its_rule(text: str, tokens: int) -> None:
    assert ESTIMATE_ONLY.get("estimate").count(text) == tokens


@given(st.text(), st.text())
@example("\x0b", "\x1f")
def test_the_estimate_grows_with_the_text_and_never_passes_its_bytes(one: str, two: str) -> None:
    count = ESTIMATE_ONLY.get("estimate").count
    assert 0 <= count(one) <= len(one.encode())
    assert count(one) <= count(one + "\n" + two)


def test_the_estimate_is_as_far_off_as_it_says(shared_data: Path, exact: Counters) -> None:
    counter, estimate = exact.get("o200k_base"), ESTIMATE_ONLY.get("estimate")
    pairs = [(estimate.count(text), counter.count(text)) for text in texts_of(shared_data)]
    assert len(pairs) == 1301
    total = sum(guess for guess, _ in pairs) / sum(true for _, true in pairs) - 1
    assert 0.03 < total < 0.045
    errors = sorted(abs(guess - true) / true for guess, true in pairs if true >= 20)
    assert errors[len(errors) // 2] < 0.055
    assert errors[int(len(errors) * 0.95)] < 0.19
    assert errors[-1] < 0.28


@pytest.mark.parametrize("name", EXACT)
def test_exact_counts_are_the_public_tokenizers(
    name: str,
    exact: Counters,
    folder: Path,
    tmp_path: Path,
    shared_data: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    # Its own description of the encoding, with a local file for the one it would fetch.
    public = pytest.importorskip("tiktoken_ext.openai_public")
    monkeypatch.setattr(
        public, "load_tiktoken_bpe", lambda url, expected_hash: _load_cached(folder, url, tmp_path)
    )
    reference = tiktoken.Encoding(**getattr(public, name)())
    counter = exact.get(name)
    odd = ["", "naïve 東京 🙂", "a\x00b", "I'LL we've", "  \n\n\t x", "1234567", "<|endoftext|>", "\u2028"]
    for text in [*odd, *texts_of(shared_data)]:
        assert counter.count(text) == len(reference.encode(text, disallowed_special=()))


BLANK = " \t\u00a0\u2028\x85\n\r"


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("long_blank", [1, 2, 3])
def test_white_space_split_off_by_hand_is_split_as_the_pattern_splits(
    name: str, long_blank: int, folder: Path, exact: Counters
) -> None:
    encoding = ENCODINGS[name]
    path = find_vocabulary(encoding, folder)
    assert path is not None
    counter = EncodingCounter(encoding, read_vocabulary(encoding, path), long_blank=long_blank)
    whole = exact.get(name)
    words = st.sampled_from(["a", "A", "1", "!", "/", "'s", "東", "\u0301", "\x1c", "\x00", "🙂"])

    @settings(max_examples=400, deadline=None)
    @given(st.lists(words | st.text(BLANK, max_size=6), max_size=6).map("".join))
    @example("!\n\n/\n  ")
    @example("\n   ")
    @example("a\n \t1")
    def count_both(text: str) -> None:
        assert counter.count(text) == whole.count(text)

    count_both()


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("end", ["", "b", "1", "\n", "\nb"])
def test_white_space_beyond_what_the_engine_takes(name: str, end: str, exact: Counters) -> None:
    """Each character of this white space is a token; a million of it is more than tiktoken itself takes."""
    counter = exact.get(name)
    few, many = "\t\u00a0" * 1000, "\t\u00a0" * 600_000
    growth = counter.count(f"a{many}{end}") - counter.count(f"a{few}{end}")
    assert growth == len(many) - len(few)


def _load_cached(folder: Path, url: str, tmp_path: Path) -> Any:
    from tiktoken.load import load_tiktoken_bpe

    name = url.rpartition("/")[2]
    (tmp_path / name).write_bytes(gzip.decompress((folder / f"{name}.gz").read_bytes()))
    return load_tiktoken_bpe(str(tmp_path / name))


def test_nothing_is_ever_fetched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection is made")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    counters = Counters(folder)
    assert counters.names == ["estimate", *ENCODINGS]
    assert [counters.get(name).count("hello world") for name in EXACT] == [2, 2]
    assert counters.get("o200k_base") is counters.get("o200k_base")
    assert counters.get("o200k_base").name == "o200k_base"


@pytest.mark.anyio
async def test_the_targets_come_with_the_servers_own_counters() -> None:
    class Two(Counters):
        @property
        def names(self) -> list[str]:
            return ["estimate", "another"]

    for counters in (Two(), ESTIMATE_ONLY):
        listed = await CompilerServicer(None, DEFAULT_LIMITS, counters).ListTargets(
            ListTargetsRequest(), None
        )
        assert list(listed.token_counters) == sorted(counters.names)


def test_a_folder_may_hold_one_vocabulary_plain_or_compressed(folder: Path, tmp_path: Path) -> None:
    compressed = folder / "cl100k_base.tiktoken.gz"
    (tmp_path / "cl100k_base.tiktoken").write_bytes(gzip.decompress(compressed.read_bytes()))
    counters = Counters(tmp_path)
    assert counters.names == ["estimate", "cl100k_base"]
    assert "o200k_base" not in counters
    assert counters.get("cl100k_base").count("hello world") == 2
    with pytest.raises(KeyError):
        counters.get("o200k_base")


def test_a_vocabulary_is_the_published_one_or_none(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="holds no vocabulary"):
        Counters(tmp_path)
    file = tmp_path / "o200k_base.tiktoken.gz"
    file.write_bytes(gzip.compress(b"IQ== 0\n"))
    with pytest.raises(VocabularyError, match="not the published vocabulary of o200k_base"):
        Counters(tmp_path)
    file.write_bytes(b"no gzip")
    with pytest.raises(VocabularyError, match="cannot be read"):
        Counters(tmp_path)
    # One that changes under a running server is noticed when it is first used.
    shutil.copy(folder / file.name, file)
    counters = Counters(tmp_path)
    file.write_bytes(gzip.compress(b"IQ== 0\n"))
    with pytest.raises(VocabularyError):
        counters.get("o200k_base")


def test_without_the_extra_the_folder_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "tiktoken":
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(VocabularyError, match=r"antiphon\[tokens\]"):
        Counters(folder)


def test_the_setting_is_checked_at_the_start(folder: Path, tmp_path: Path) -> None:
    assert CompilerSettings(listen="unix:/c", history="unix:/h").vocabularies is None
    settings = CompilerSettings(listen="unix:/c", history="unix:/h", vocabularies=folder)
    assert settings.vocabularies == folder
    with pytest.raises(ValidationError, match="holds no vocabulary"):
        CompilerSettings(listen="unix:/c", history="unix:/h", vocabularies=tmp_path)


def test_the_hashes_are_those_the_tokenizer_expects(folder: Path) -> None:
    for name, encoding in ENCODINGS.items():
        content = gzip.decompress((folder / f"{name}.tiktoken.gz").read_bytes())
        assert hashlib.sha256(content).hexdigest() == encoding.sha256


def test_a_counter_that_this_server_has_not_is_refused() -> None:
    request = request_of({"instruction": {"instruction": "hi"}})
    request.token_counter = "o200k_base"
    with pytest.raises(FieldInvalidError) as caught:
        compile_inline(request)
    assert [violation.field for violation in caught.value.violations] == ["token_counter"]
    assert "estimate" in caught.value.violations[0].description


def test_plans_count_with_the_counter_asked_for(exact: Counters) -> None:
    text = "Where is my parcel? It should have arrived yesterday, said the confirmation."
    plan = plan_window([user(1, text)], 10**6, counters=exact, token_counter="o200k_base")
    assert plan.tokens == TURN_TOKENS + exact.get("o200k_base").count(text)
    assert plan_window([user(1, text)], 10**6, counters=exact).tokens != plan.tokens
