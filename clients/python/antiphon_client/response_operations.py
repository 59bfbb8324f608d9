"""The calls about providers' responses, built and read in one place for every client."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import Any

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.target_pb2 import ActionName
from antiphon_client.errors import StreamIncompleteError
from antiphon_client.json_text import dump_json_text
from antiphon_client.provider_response import ProviderResponse, whole_or_raise
from antiphon_client.rpc import Steps, UnaryCall, UploadCall, perform


class ResponseOperations:
    """ParseResponse and AssembleResponse as operations; the contract stands in the proto."""

    def parse_response(
        self,
        target: str,
        payload: str | bytes | Mapping[str, Any],
        *,
        action_names: Mapping[str, str] | None = None,
        model: str | None = None,
        keep_partial: bool = False,
    ) -> Steps[ProviderResponse]:
        """Turn a provider's whole answer into the messages to append.

        Args:
            target: The provider's API, such as ``openai.chat``.
            payload: The answer's body: its text, which is kept as it is spelled, or
                the object parsed from it.
            action_names: Actions' own names to those of the provider's request.
            model: The model that answered, where the answer does not say.
            keep_partial: Returns what there is where a call's arguments were cut.

        Raises:
            TargetUnknownError: No target has the name.
            FieldInvalidError: The payload is no answer of the target, or is the
                provider's error.
            StreamIncompleteError: A call's arguments were cut; what else was said
                is its ``partial``.
        """
        request = pb.ParseResponseRequest(
            target=target,
            payload_json=_payload_text(payload),
            action_names=_action_names(action_names),
            model=model,
            keep_partial=True,
        )
        reply = yield from perform(UnaryCall("ParseResponse", request, _reply))
        return whole_or_raise(reply, keep_partial)

    def assemble_response(
        self,
        target: str,
        deltas: Iterable[pb.ProviderDelta] | AsyncIterable[pb.ProviderDelta],
        *,
        action_names: Mapping[str, str] | None = None,
        model: str | None = None,
        keep_partial: bool = False,
    ) -> Steps[ProviderResponse]:
        """Assemble a provider's streamed answer into the messages to append.

        Args:
            target: The provider's API, such as ``openai.chat``.
            deltas: The deltas in order, such as ``provider_streams.decode`` yields;
                an asynchronous iterable for the asyncio client only. Where it
                raises, the stream is taken to end there.
            action_names: Actions' own names to those of the provider's request.
            model: The model that answers, where the stream does not say.
            keep_partial: Returns what there is of an incomplete answer, with its
                ``fault``.

        Raises:
            TargetUnknownError: No target has the name.
            StreamIncompleteError: The answer is incomplete; what was said is its
                ``partial``, and what ``deltas`` raised is its cause.
            SizeLimitExceededError: The deltas are more than 64 MiB.
        """
        options = pb.AssembleOptions(
            target=target, model=model, action_names=_action_names(action_names), keep_partial=True
        )
        upload = _DeltaUpload(options)
        parts = upload.arriving(deltas) if isinstance(deltas, AsyncIterable) else upload.given(deltas)
        reply = yield from perform(UploadCall("AssembleResponse", parts, _reply))
        try:
            return whole_or_raise(reply, keep_partial)
        except StreamIncompleteError as error:
            raise error from upload.failure


class _DeltaUpload:
    """The requests of one AssembleResponse.

    Attributes:
        failure: What the deltas' source raised; None while it has not.
    """

    def __init__(self, options: pb.AssembleOptions) -> None:
        self._first = pb.AssembleResponseRequest(options=options)
        self.failure: Exception | None = None

    def given(self, deltas: Iterable[pb.ProviderDelta]) -> Iterator[pb.AssembleResponseRequest]:
        """Yield the requests of deltas; a failure of theirs is kept and ends them."""
        yield self._first
        try:
            for delta in deltas:
                yield pb.AssembleResponseRequest(delta=delta)
        except Exception as failure:
            self.failure = failure

    async def arriving(
        self, deltas: AsyncIterable[pb.ProviderDelta]
    ) -> AsyncIterator[pb.AssembleResponseRequest]:
        """Yield the requests, as :meth:`given` does."""
        yield self._first
        try:
            async for delta in deltas:
                yield pb.AssembleResponseRequest(delta=delta)
        except Exception as failure:
            self.failure = failure


def _payload_text(payload: str | bytes | Mapping[str, Any]) -> str:
    if isinstance(payload, bytes):
        return payload.decode("utf-8")
    return payload if isinstance(payload, str) else dump_json_text(dict(payload))


def _action_names(names: Mapping[str, str] | None) -> list[ActionName]:
    return [ActionName(name=name, provider_name=given) for name, given in (names or {}).items()]


def _reply(reply: Any) -> Any:
    return reply
