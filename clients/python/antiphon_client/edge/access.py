"""What a caller needs for each RPC: the one table of rules, and the roles.

A server does not start with an RPC that has no rule here, and a method without
one is refused; so an RPC that is added later is closed until somebody decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from google.protobuf.descriptor import ServiceDescriptor


class Need(StrEnum):
    """The right that a call takes."""

    NOTHING = "nothing"
    """Anybody may call, also without a token."""
    READ = "read"
    """Shows what the tenant has stored, or computes and stores nothing."""
    WRITE = "write"
    """Changes what the tenant has stored."""
    ADMIN = "admin"
    """Looks at the server itself, beyond every tenant."""


class Role(StrEnum):
    """What a caller is to its tenant."""

    OWNER = "owner"
    """Reads and writes."""
    GUEST = "guest"
    """Reads, within its scope."""
    ANONYMOUS = "anonymous"
    """Calls without a token: as a guest where the operator has set that up, else nothing."""


RIGHTS: Mapping[Role, frozenset[Need]] = {
    Role.OWNER: frozenset({Need.READ, Need.WRITE}),
    Role.GUEST: frozenset({Need.READ}),
    Role.ANONYMOUS: frozenset({Need.READ}),
}
"""What each role may do; ADMIN is given to single tokens and to no role."""


class Reach(StrEnum):
    """Which stored data a reading call shows: what a guest's scope is held against."""

    BRANCH = "branch"
    """That of the branch in the request's ``branch_id``."""
    LISTING = "listing"
    """Branches whose external keys begin with the request's ``external_key_prefix``."""
    EXCHANGE = "exchange"
    """An exchange's, which belongs to no branch."""
    NONE = "none"
    """None by itself; what it reads elsewhere is decided there, under the caller's own token."""


class Rule(NamedTuple):
    """What a call of an RPC takes.

    Attributes:
        need: The right.
        reach: Which stored data it shows.
    """

    need: Need
    reach: Reach = Reach.NONE


_WRITE = Rule(Need.WRITE)
_READ_BRANCH = Rule(Need.READ, Reach.BRANCH)
_READ_EXCHANGE = Rule(Need.READ, Reach.EXCHANGE)
_COMPUTE = Rule(Need.READ)

_RULES: Mapping[str, Mapping[str, Rule]] = {
    "antiphon.history.v1.HistoryService": {
        "CreateBranch": _WRITE,
        "GetBranch": _READ_BRANCH,
        "ListBranches": Rule(Need.READ, Reach.LISTING),
        "UpdateBranch": _WRITE,
        "DeleteBranch": _WRITE,
        "TrimHistory": _WRITE,
        "ForkBranch": _WRITE,
        "WatchBranch": _READ_BRANCH,
        "ExportBranch": _READ_BRANCH,
        "ImportBranch": _WRITE,
        "AddMessages": _WRITE,
        "RespondToAction": _WRITE,
        "SetSystem": _WRITE,
        "RemoveMessages": _WRITE,
        "MoveMessage": _WRITE,
        "ClearMessages": _WRITE,
        "GetMessages": _READ_BRANCH,
        "ListMessages": _READ_BRANCH,
        "SelectView": _WRITE,
        "ClearView": _WRITE,
        "ReadSnapshot": _READ_BRANCH,
        "CommitCompaction": _WRITE,
    },
    "antiphon.history.v1.ExchangeService": {
        "RegisterOwner": _WRITE,
        "UnregisterOwner": _WRITE,
        "ListOwners": _READ_EXCHANGE,
        "Send": _WRITE,
        "Collect": _WRITE,
        "CollectAll": _WRITE,
        "Receive": _READ_EXCHANGE,
        "Pop": _WRITE,
        "Lease": _WRITE,
        "Acknowledge": _WRITE,
        "Reject": _WRITE,
        "ListDeadLetters": _READ_EXCHANGE,
        "RedriveDeadLetter": _WRITE,
        "WatchInbox": _READ_EXCHANGE,
    },
    "antiphon.compiler.v1.CompilerService": {
        "Compile": _COMPUTE,
        "StreamCompile": _COMPUTE,
        "ParseResponse": _COMPUTE,
        "AssembleResponse": _COMPUTE,
        "PlanWindow": _COMPUTE,
        "PlanCompaction": _COMPUTE,
        "ListTargets": _COMPUTE,
    },
}

READING = frozenset(
    name for rules in _RULES.values() for name, rule in rules.items() if rule.need is Need.READ
)
"""The names of all RPCs that read."""

_INFRASTRUCTURE: Mapping[str, Rule] = {
    "grpc.health.v1.Health": Rule(Need.NOTHING),
    "grpc.reflection.v1alpha.ServerReflection": Rule(Need.READ),
    "grpc.channelz.v1.Channelz": Rule(Need.ADMIN),
}
"""Rules of services that are gRPC's own, for whichever methods its release has."""


class Rules:
    """The rules of one server's RPCs."""

    def __init__(self, services: Iterable[ServiceDescriptor]) -> None:
        """Look up the rules of services.

        Raises:
            LookupError: An RPC has none.
        """
        self._rules: dict[str, Rule] = {}
        for service in services:
            own = _RULES.get(service.full_name, {})
            for method in service.methods:
                if method.name not in own:
                    raise LookupError(f"no access rule for {service.full_name}/{method.name}")
                self._rules[f"/{service.full_name}/{method.name}"] = own[method.name]

    def of(self, path: str) -> Rule | None:
        """Return the rule of a method by its path; None where there is none."""
        rule = self._rules.get(path)
        return rule if rule is not None else _INFRASTRUCTURE.get(path[1:].partition("/")[0])
