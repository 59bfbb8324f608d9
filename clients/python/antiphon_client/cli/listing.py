"""``antiphon targets``: whom turns can be compiled for."""

from __future__ import annotations

from typing import Any

from antiphon_client.cli.options import AsJson, CompilerAddress, open_compiler
from antiphon_client.cli.output import say, say_json, say_table, visible
from antiphon_client.targets import Target, TargetList

EXAMPLES = """Examples:

  antiphon targets
  antiphon targets --json
"""


def targets(compiler: CompilerAddress, as_json: AsJson = False) -> None:
    """List the targets with their flags, and the token counters there are."""
    with open_compiler(compiler) as client:
        listed = client.list_targets()
    if as_json:
        say_json(_object(listed))
        return
    say_table(("TARGET", "PROVIDER", "CACHE MARKS", "CONTINUES AN ANSWER"), list(map(_row, listed.targets)))
    flags = [
        (target.name, flag, visible(meaning))
        for target in listed.targets
        for flag, meaning in target.flags.items()
    ]
    if flags:
        say()
        say_table(("TARGET", "FLAG", "MEANING"), flags)
    say()
    say(f"token counters    {', '.join(listed.token_counters)}")
    say(f"capability table  {listed.capability_version}")


def _row(target: Target) -> tuple[str, str, str, str]:
    return (
        target.name,
        target.provider,
        str(target.cache_marks) if target.cache_marks else "-",
        "yes" if target.continues_assistant else "no",
    )


def _object(listed: TargetList) -> dict[str, Any]:
    return {
        "capability_version": listed.capability_version,
        "token_counters": list(listed.token_counters),
        "targets": [
            {
                "name": target.name,
                "provider": target.provider,
                "flags": dict(target.flags),
                "cache_marks": target.cache_marks,
                "continues_assistant": target.continues_assistant,
                "row": target.row,
            }
            for target in listed.targets
        ],
    }
