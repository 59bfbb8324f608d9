"""The histories that the compiler's requests are about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias
from uuid import UUID

from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon_client.messages import System
from antiphon_client.wire_values import AnyMessage, Id, wire_message


@dataclass(frozen=True, slots=True)
class InlineSnapshot:
    """A history given in the request itself; the history service is not called."""

    messages: Iterable[AnyMessage] = ()
    system: System | None = None


class HasBranchId(Protocol):
    """Anything with a branch's id, such as a Branch."""

    @property
    def branch_id(self) -> UUID:
        """The branch's id."""


Source: TypeAlias = HasBranchId | InlineSnapshot | Id
"""A branch, its id, or an inline snapshot."""


def put_source(
    request: pb.CompileRequest | pb.PlanWindowRequest | pb.PlanCompactionRequest,
    source: Source,
    at_revision: int | None,
) -> None:
    """Write a request's source.

    Raises:
        ValueError: ``at_revision`` is given with an inline snapshot.
    """
    if isinstance(source, InlineSnapshot):
        if at_revision is not None:
            raise ValueError("at_revision applies to a branch, not to an inline snapshot")
        system = None if source.system is None else wire_message(source.system)
        snapshot = pb.Snapshot(system=system, messages=[wire_message(message) for message in source.messages])
        request.snapshot.CopyFrom(snapshot)
    else:
        branch_id = source if isinstance(source, (str, UUID)) else source.branch_id
        request.branch.CopyFrom(pb.BranchRef(branch_id=str(branch_id), at_revision=at_revision))
