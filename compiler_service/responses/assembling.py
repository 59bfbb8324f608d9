"""AssembleResponse: a provider's streamed answer, from its deltas, as the messages to append."""

from __future__ import annotations

from collections.abc import AsyncIterator

from antiphon.compiler.v1.provider_pb2 import AssembleResponseRequest, AssembleResponseResponse
from antiphon_client.edge.offload import run_weighted
from antiphon_client.errors import FieldInvalidError, SizeLimitExceededError
from antiphon_client.limits import Limits
from antiphon_client.provider_streams.assembly import Assembler
from compiler_service.responses.checks import check_delta, check_options
from compiler_service.responses.replies import checked_reply


async def assemble_response(
    requests: AsyncIterator[AssembleResponseRequest], limits: Limits
) -> AssembleResponseResponse:
    """Take all deltas, then make the messages.

    Args:
        requests: The requests as they come; the first one has the options.
        limits: Gives ``assembly_bytes`` and ``reply_bytes``.

    Raises:
        FieldInvalidError: A field breaks its rule; the stream is ended there.
        TargetUnknownError: No target has the options' name.
        SizeLimitExceededError: The deltas, or the reply, are too large.
        StreamIncompleteError: The response is incomplete, and the options do not
            keep what there is.

    Cost: the deltas are kept until the stream ends.
    """
    assembler: Assembler | None = None
    keep_partial = False
    size = 0
    async for request in requests:
        if assembler is None:
            if not request.HasField("options"):
                raise FieldInvalidError.of("options", "is required in the first request")
            check_options(request.options)
            assembler = Assembler(request.options)
            keep_partial = request.options.keep_partial
        elif request.HasField("options"):
            raise FieldInvalidError.of("options", "belongs in the first request only")
        if not request.HasField("delta"):
            continue
        check_delta(request)
        size += request.delta.ByteSize()
        if size > limits.assembly_bytes:
            raise SizeLimitExceededError.of(
                "the deltas", limit_name="assembly_bytes", limit=limits.assembly_bytes, actual=size
            )
        assembler.add(request.delta)
    if assembler is None:
        raise FieldInvalidError.of("options", "is required in the first request")
    reply = await run_weighted(size, assembler.finish)
    return checked_reply(reply, keep_partial, limits)
