"""Compiled turns in the terms of the wire."""

from __future__ import annotations

from antiphon.compiler.v1.compiler_service_pb2 import CompileResponse
from antiphon_client.errors import SizeLimitExceededError
from antiphon_client.limits import Limits
from compiler_service.compilation import Compilation


def encode_response(compilation: Compilation, limits: Limits) -> bytes:
    """Return the encoded CompileResponse.

    Raises:
        SizeLimitExceededError: It is larger than a unary reply may be.
    """
    response = CompileResponse(
        instruction=compilation.instruction,
        provider_kwargs_json=compilation.provider_kwargs_json,
        history_revision=compilation.history_revision,
        incarnation=compilation.incarnation,
        messages_digest=compilation.messages_digest,
        report=compilation.report,
    )
    add = response.messages.add
    for role, text, images in compilation.turns:
        if images:
            parts = add(role=role).parts.parts
            parts.add().text.text = text
            for url, detail in images:
                image = parts.add().image_url
                image.url = url
                image.detail = detail
        else:
            add(role=role, text=text)
    size = response.ByteSize()
    if size > limits.reply_bytes:
        raise SizeLimitExceededError.of(
            "the reply",
            limit_name="reply_bytes",
            limit=limits.reply_bytes,
            actual=size,
            advice="use StreamCompile",
        )
    return response.SerializeToString()
