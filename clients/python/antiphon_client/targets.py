"""The providers' APIs that turns are compiled for, and how one is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypedDict

from antiphon.compiler.v1 import compiler_service_pb2, target_pb2
from antiphon_client.json_text import parse_json_text

Profile: TypeAlias = Literal["folded", "native"]
"""How to compile: roles user and assistant only (ADR-0007 D2), or real tool turns."""

ToolChoiceMode: TypeAlias = Literal["auto", "required", "none", "function"]
"""The model decides; some tool, no tool, or the named function is called."""

PROFILES: Mapping[str, compiler_service_pb2.Profile.ValueType] = MappingProxyType(
    {"folded": compiler_service_pb2.PROFILE_FOLDED, "native": compiler_service_pb2.PROFILE_NATIVE}
)
TOOL_CHOICES: Mapping[str, target_pb2.ToolChoiceMode.ValueType] = MappingProxyType(
    {
        "auto": target_pb2.TOOL_CHOICE_MODE_AUTO,
        "required": target_pb2.TOOL_CHOICE_MODE_REQUIRED,
        "none": target_pb2.TOOL_CHOICE_MODE_NONE,
        "function": target_pb2.TOOL_CHOICE_MODE_FUNCTION,
    }
)


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether and which tool the model is to call.

    Attributes:
        mode: The kind of choice.
        function_name: The function, for the mode ``function`` only.
        parallel_calls: Whether several calls may come at once; None for the provider's default.
    """

    mode: ToolChoiceMode
    function_name: str | None = None
    parallel_calls: bool | None = None


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """How a target is used.

    Attributes:
        model: The model asked; None: the request names none but what the keyword arguments give.
        tool_choice: Which tool is to be called; None for the provider's default.
        strip_signatures: Leaves out all signatures and opaque parts, texts kept: for the one
            retry after a provider has refused stale ones.
        flags: Switches of the target, as ``list_targets`` names them.
        response_format_name: Names the structured answer where the target wants a name.
    """

    model: str | None = None
    tool_choice: ToolChoice | None = None
    strip_signatures: bool = False
    flags: tuple[str, ...] = ()
    response_format_name: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A provider's API as a target.

    Attributes:
        name: Its name, such as ``openai.chat``.
        provider: The issuer whose signatures it takes.
        flags: Its switches, each with its meaning. Read-only.
        cache_marks: Most cache marks in one request; 0 where it takes none.
        continues_assistant: Whether a history may end with an assistant's turn for it to continue.
        row_json: Its whole row of the capability table: the text of a JSON object.
    """

    name: str
    provider: str
    flags: Mapping[str, str]
    cache_marks: int
    continues_assistant: bool
    row_json: str

    @property
    def row(self) -> dict[str, Any]:
        """The row, the caller's own, parsed anew each time; its keys may change with the version."""
        parsed: dict[str, Any] = parse_json_text(self.row_json)
        return parsed


@dataclass(frozen=True, slots=True)
class TargetList:
    """What a compiler projects to.

    Attributes:
        capability_version: Version of its capability table.
        targets: The targets, by name.
        token_counters: Names of its token counters.
    """

    capability_version: str
    targets: tuple[Target, ...]
    token_counters: tuple[str, ...]

    def get(self, name: str) -> Target | None:
        """Return the target of a name; None where there is none."""
        return next((target for target in self.targets if target.name == name), None)


class CompileOptions(TypedDict, total=False):
    """Keyword arguments of ``compile``: how a turn is compiled, apart from what it says."""

    at_revision: int | None
    profile: Profile
    target: str | None
    target_options: TargetOptions | None
    token_counter: str | None


def put_options(request: compiler_service_pb2.CompileRequest, options: CompileOptions) -> None:
    """Write how a request is to be compiled, but for its revision, which is its source's.

    Raises:
        ValueError: There is no such profile or kind of tool choice.
    """
    profile = options.get("profile", "folded")
    if profile not in PROFILES:
        raise ValueError(f"no profile {profile!r}; there are: {', '.join(PROFILES)}")
    request.profile = PROFILES[profile]
    target, used = options.get("target"), options.get("target_options")
    if target is not None:
        request.target = target
    if used is not None:
        request.target_options.CopyFrom(_target_options(used))
    counter = options.get("token_counter")
    if counter is not None:
        request.token_counter = counter


def target_list(response: target_pb2.ListTargetsResponse) -> TargetList:
    """Read the reply of ListTargets."""
    return TargetList(
        capability_version=response.capability_version,
        targets=tuple(map(_target, response.targets)),
        token_counters=tuple(response.token_counters),
    )


def _target(target: target_pb2.Target) -> Target:
    return Target(
        name=target.name,
        provider=target.provider,
        flags=MappingProxyType({flag.name: flag.meaning for flag in target.flags}),
        cache_marks=target.cache_marks,
        continues_assistant=target.continues_assistant,
        row_json=target.row_json,
    )


def _target_options(options: TargetOptions) -> target_pb2.TargetOptions:
    choice = options.tool_choice
    return target_pb2.TargetOptions(
        model=options.model,
        tool_choice=None if choice is None else _tool_choice(choice),
        strip_signatures=options.strip_signatures,
        flags=options.flags,
        response_format_name=options.response_format_name,
    )


def _tool_choice(choice: ToolChoice) -> target_pb2.ToolChoice:
    if choice.mode not in TOOL_CHOICES:
        raise ValueError(f"no tool choice {choice.mode!r}; there are: {', '.join(TOOL_CHOICES)}")
    return target_pb2.ToolChoice(
        mode=TOOL_CHOICES[choice.mode],
        function_name=choice.function_name,
        parallel_calls=choice.parallel_calls,
    )
