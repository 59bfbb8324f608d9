"""A compilation as the encoded reply of ``Compile``."""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.compiler.v1.compiler_service_pb2 import CompileResponse
from antiphon_client.limits import Limits
from compiler_service.compilation import Compilation
from compiler_service.reply_size import check_reply_size
from compiler_service.turn_encoding import encode_notes, encode_turns


def encode_response(compilation: Compilation, limits: Limits) -> bytes:
    """Return the encoded CompileResponse.

    Raises:
        SizeLimitExceededError: It is larger than a unary reply may be.
    """
    request = compilation.provider_request
    head = CompileResponse(
        instruction=compilation.instruction,
        provider_kwargs_json=compilation.provider_kwargs_json,
        history_revision=compilation.history_revision,
        incarnation=compilation.incarnation,
        messages_digest=compilation.messages_digest,
        system_text=compilation.system_text,
        provider_request_json=None if request is None else request.request_json,
        request_digest=compilation.request_digest,
        capability_version=None if request is None else request.capability_version,
        action_names=compilation.action_names,
        tokens=None if compilation.tokens is None else compilation.tokens.to_proto(),
    )
    parts = [head.SerializeToString(), *_turns_and_report(compilation)]
    check_reply_size(sum(map(len, parts)), limits, "use StreamCompile")
    return b"".join(parts)


def _turns_and_report(compilation: Compilation) -> Iterator[bytes]:
    folded, request = compilation.folded, compilation.provider_request
    if folded is None:
        yield encode_turns(compilation.turns)
        yield encode_notes(compilation.report)
        return
    yield from folded.encoded_turns()
    yield from folded.encoded_notes()
    if request is not None:
        yield encode_notes(request.notes)
