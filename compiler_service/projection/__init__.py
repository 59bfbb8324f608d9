"""Projections: neutral turns as the wire requests of providers.

What a provider takes stands in the capability table (`capabilities`); a writer
for each API knows its shapes. Everything here is pure.
"""

from compiler_service.projection.capabilities import TABLE
from compiler_service.projection.folded import folded_conversation
from compiler_service.projection.listing import list_targets
from compiler_service.projection.projecting import ProviderRequest, project
from compiler_service.projection.request_target import check_target

__all__ = [
    "TABLE",
    "ProviderRequest",
    "check_target",
    "folded_conversation",
    "list_targets",
    "project",
]
