"""The profiles: what a compilation is for, as a list of passes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from antiphon.compiler.v1 import compiler_service_pb2
from antiphon.compiler.v1.compiler_service_pb2 import Profile
from compiler_service.passes import Pass
from compiler_service.profiles.folded import FOLDED
from compiler_service.profiles.native import NATIVE

PROFILES: Mapping[Profile.ValueType, tuple[Pass, ...]] = MappingProxyType(
    {
        compiler_service_pb2.PROFILE_UNSPECIFIED: FOLDED,
        compiler_service_pb2.PROFILE_FOLDED: FOLDED,
        compiler_service_pb2.PROFILE_NATIVE: NATIVE,
    }
)
"""Every profile that a request may name."""
