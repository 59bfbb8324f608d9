"""What the projections of this folder share with ours: measuring in turns, and what a request says.

Imports nothing but the standard library, so that every environment runs it. The
bench writes one line to a program's standard input, the job, a JSON object; then
an empty line for every round; each is answered with one line. Nothing else may be
written to standard output.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Record = dict[str, Any]
Request = Sequence[Mapping[str, Any]] | str
"""The turns of a provider's request; or the text of its body, where that is what is made."""

Works = Mapping[str, Callable[[], Request]]
"""What is measured, by name; each makes the turns of the same request."""


Texts = Mapping[str, Callable[[], Sequence[str]]]
"""What is measured by the clock, by name; each returns the texts that came out."""


def serve(prepare: Callable[[dict[str, Any]], Works]) -> None:
    """Prepares the job, then measures its works once for every line that comes.

    The first answer has a digest of what each work's request says; the others have
    the CPU seconds that each took, the garbage collector waiting meanwhile, as in
    the standard library's timeit.
    """
    _serve(prepare(json.loads(sys.stdin.readline())), digest, time.process_time)


def serve_texts(prepare: Callable[[dict[str, Any]], Texts]) -> None:
    """As `serve`, for works that wait for a disk or another process: the seconds are the clock's."""
    _serve(prepare(json.loads(sys.stdin.readline())), digest_of_texts, time.perf_counter)


def digest_of_texts(texts: Sequence[str]) -> str:
    """Returns a digest of texts in their order."""
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()


def _serve(
    works: Mapping[str, Callable[[], Any]], says: Callable[[Any], str], clock: Callable[[], float]
) -> None:
    _answer({name: says(work()) for name, work in works.items()})
    for _ in sys.stdin:
        gc.collect()
        gc.disable()
        seconds = {name: _timed(work, clock) for name, work in works.items()}
        gc.enable()
        _answer(seconds)


def digest(request: Request) -> str:
    """Returns a digest of what a request says, whichever provider it is for."""
    turns = json.loads(request)["messages"] if isinstance(request, str) else request
    said = json.dumps(list(_said(turns)), sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def _timed(work: Callable[[], Any], clock: Callable[[], float]) -> float:
    begin = clock()
    made = work()
    seconds = clock() - begin
    # Freeing what was made is no part of making it.
    del made
    return seconds


def _answer(value: Mapping[str, object]) -> None:
    print(json.dumps(value), flush=True)


def _said(turns: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Yields texts, calls and results in order, in OpenAI's form of turns and in Anthropic's."""
    for turn in turns:
        role, content = turn["role"], turn.get("content")
        if role == "tool":
            yield "result", turn["tool_call_id"], content
            continue
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            match block["type"]:
                case "text":
                    if block["text"]:
                        yield role, block["text"]
                case "tool_use":
                    yield "call", block["id"], block["name"], block["input"]
                case "tool_result":
                    yield "result", block["tool_use_id"], _text_of(block["content"])
        for call in turn.get("tool_calls") or ():
            function = call["function"]
            yield "call", call["id"], function["name"], json.loads(function["arguments"])


def _text_of(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)
