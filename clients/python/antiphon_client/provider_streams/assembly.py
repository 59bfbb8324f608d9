"""Assembling a response from its deltas, without a service."""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.compiler.v1.provider_pb2 import (
    AssembleOptions,
    AssembleResponseResponse,
    ProviderDelta,
)
from antiphon_client.errors import TargetUnknownError
from antiphon_client.provider_streams.records import ResponseContext, response_fields
from antiphon_client.provider_streams.reducer import Reducer
from antiphon_client.provider_streams.targets import PROVIDERS


class Assembler:
    """Takes the deltas of one response and makes its messages.

    Raises:
        TargetUnknownError: The options' target has no provider.
    """

    def __init__(self, options: AssembleOptions) -> None:
        if options.target not in PROVIDERS:
            raise TargetUnknownError.of(options.target)
        self._context = ResponseContext(
            options.target,
            options.model,
            {each.provider_name: each.name for each in options.action_names},
        )
        self._reducer = Reducer()

    def add(self, delta: ProviderDelta) -> None:
        """Take the next delta."""
        self._reducer.add(delta)

    def finish(self) -> AssembleResponseResponse:
        """Return the response with its verdict, whatever that is; called once."""
        return AssembleResponseResponse(**response_fields(self._reducer.result(), self._context))


def assemble(options: AssembleOptions, deltas: Iterable[ProviderDelta]) -> AssembleResponseResponse:
    """Return the messages of a streamed response, as AssembleResponse does with ``keep_partial``.

    Raises:
        TargetUnknownError: The options' target has no provider.
    """
    assembler = Assembler(options)
    for delta in deltas:
        assembler.add(delta)
    return assembler.finish()
