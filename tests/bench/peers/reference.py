"""The reference package, lionagi, preparing a chat request from the same conversation.

Runs in the environment of `make bench-peers`, in a process of its own, and imports
nothing of ours. Reads one JSON object from standard input, writes one to standard
output; the times are in seconds.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from typing import Any

from lionagi.operations.chat._prepare import _prepare_run_kwargs
from lionagi.operations.types import ChatParam
from lionagi.session.branch import Branch

Record = dict[str, Any]


def build(system: str, records: list[Record]) -> Branch:
    """A branch that holds the records."""
    branch = Branch(system=system)
    for record in records:
        add(branch, record)
    return branch


def add(branch: Branch, record: Record) -> None:
    """Adds one record, as the package's own session does."""
    messages = branch.msgs
    match record["kind"]:
        case "instruction":
            message = messages.create_instruction(instruction=record["text"])
        case "assistant":
            message = messages.create_assistant_response(assistant_response=record["text"])
        case "action_request":
            message = messages.create_action_request(
                function=record["function"], arguments=record["arguments"]
            )
        case _:
            message = messages.create_action_response(
                action_request=messages.messages[-1], action_output=record["output"]
            )
    messages.messages.include(message)


def prepare(branch: Branch, question: str) -> tuple[float, list[dict[str, Any]]]:
    """Prepares the request of a chat turn: the package's active path up to the model call."""
    begin = time.perf_counter()
    _, keywords = _prepare_run_kwargs(branch, question, ChatParam())
    return time.perf_counter() - begin, keywords["messages"]


def main() -> None:
    """Measures: cold is a branch never prepared, warm one new record after a preparation."""
    job = json.load(sys.stdin)
    system, question, records = job["system"], job["question"], job["records"]
    cold, warm = [], []
    prepare(build(system, records[:8]), question)
    for _ in range(job["rounds"]):
        seconds, messages = prepare(build(system, records), question)
        cold.append(seconds)
        branch = build(system, records[:-1])
        prepare(branch, question)
        add(branch, records[-1])
        seconds, again = prepare(branch, question)
        warm.append(seconds)
        if again != messages:
            sys.exit("the reference's cache changes its output")
    texts = "\0".join(message["content"] for message in messages[1:])
    digest = hashlib.sha256(texts.encode()).hexdigest()
    json.dump({"cold": cold, "warm": warm, "messages": len(messages), "digest": digest}, sys.stdout)


if __name__ == "__main__":
    main()
