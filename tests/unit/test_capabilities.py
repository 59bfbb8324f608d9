"""The capability table: read and checked once, and listed."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from antiphon.compiler.v1.target_pb2 import ListTargetsRequest, ListTargetsResponse
from antiphon_client.limits import DEFAULT_LIMITS
from compiler_service.projection import TABLE
from compiler_service.projection.capabilities import TABLE_TEXT, load_table
from compiler_service.servicer import CompilerServicer

NAMES = ["anthropic.messages", "gemini.generate_content", "ollama.chat", "openai.chat", "openai.responses"]


def listed() -> ListTargetsResponse:
    servicer = CompilerServicer(None, DEFAULT_LIMITS)
    return asyncio.run(servicer.ListTargets(ListTargetsRequest(), None))


def test_targets_are_listed_by_name() -> None:
    response = listed()
    assert [target.name for target in response.targets] == NAMES
    assert response.capability_version == TABLE.version
    assert "estimate" in response.token_counters
    by_name = {target.name: target for target in response.targets}
    anthropic = by_name["anthropic.messages"]
    assert (anthropic.provider, anthropic.cache_marks, anthropic.continues_assistant) == (
        "anthropic",
        4,
        True,
    )
    assert by_name["openai.chat"].cache_marks == 0
    assert not by_name["openai.chat"].continues_assistant
    for target in response.targets:
        assert [flag.name for flag in target.flags] == sorted(TABLE.targets[target.name].flags)
        assert all(flag.meaning for flag in target.flags)
        assert json.loads(target.row_json) == json.loads(TABLE_TEXT)["targets"][target.name]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"version"', '"edition"', "version"),
        ('"cache_marks": 4', '"cache_marks": -1', "cache_marks"),
        ('"cache_marks": 4', '"cache_marks": "4"', "cache_marks"),
        ('"provider": "anthropic",', "", "provider"),
        ('"provider": "anthropic"', '"provider": "anthropic", "vendor": "x"', "vendor"),
        ('"id_rule": "anthropic"', '"id_rule": "antropic"', "antropic"),
        ('"strict_schema": "anthropic"', '"strict_schema": "strict"', "strict"),
        ('["reasoning_in_tool_input", ', '["reasoning_in_input", ', "reasoning_in_input"),
        ('"thinking": "signed"', '"thinking": "maybe"', "thinking"),
    ],
)
def test_a_table_with_a_fault_is_refused(old: str, new: str, fault: str) -> None:
    assert old in TABLE_TEXT
    with pytest.raises(ValidationError, match=re.escape(fault)):
        load_table(TABLE_TEXT.replace(old, new, 1))


def test_made_ids_are_what_their_rule_takes() -> None:
    for rule in TABLE.id_rules.values():
        assert rule.compiled.fullmatch(rule.made_prefix + "A" * rule.made_length)


SCRIPT = """
import hashlib, sys
from tests.support.projection import *
from compiler_service.projection import project
given = conversation(
    user("hi", text(" "), png()),
    assistant("x", call("a.b", "n.m", arguments_text="[1]"), call("a:b", "n m")),
    results(result("a.b", "r", png(), name="n.m"), result("a:b", "", name="n m")),
    user("go"), user("on"), system="be",
)
parameters = '{"type":"object","properties":{"a":{"type":["string","null"]}}}'
tools = [f'{{"name":"n.m","parameters":{parameters}}}', '{"name":"n m"}']
for target in TARGETS:
    outcome = project(given, request(target, tools=tools, schema='{"type":"object"}', kwargs='{"seed":1}'))
    print(target, outcome.digest(), hashlib.sha256(repr(outcome.notes).encode()).hexdigest())
"""


def test_four_processes_give_the_same_bytes() -> None:
    root = Path(__file__).resolve().parents[2]
    outputs: set[str] = set()
    for seed in ("0", "1", "2", "random"):
        environment: dict[str, Any] = {"PYTHONHASHSEED": seed, "PYTHONPATH": f"{root}:{root}/clients/python"}
        command = [sys.executable, "-c", SCRIPT]
        outputs.add(
            subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        )
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == len(NAMES)
