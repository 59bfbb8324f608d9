"""Providers' streamed responses: raw bytes to deltas, deltas to messages.

``decode`` turns the bytes of a stream into deltas; ``assemble`` turns deltas into
messages here, ``CompilerClient.assemble_response`` does it by the service. Both
run the same code.
"""

from __future__ import annotations

from antiphon_client.provider_streams.assembly import Assembler, assemble
from antiphon_client.provider_streams.decoding import StreamDecodeError, StreamDecoder, decode, decode_async

__all__ = ["Assembler", "StreamDecodeError", "StreamDecoder", "assemble", "decode", "decode_async"]
