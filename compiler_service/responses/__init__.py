"""Providers' responses, whole or as deltas, turned into the messages to append."""

from __future__ import annotations

from compiler_service.responses.assembling import assemble_response
from compiler_service.responses.parsing import parse_response

__all__ = ["assemble_response", "parse_response"]
