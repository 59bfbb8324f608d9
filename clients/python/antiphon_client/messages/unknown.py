"""Records of kinds that this code does not know."""

from __future__ import annotations

import base64
import binascii
from typing import Any, ClassVar, NoReturn

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.errors import UnsupportedContentError
from antiphon_client.messages.model import Message


class UnknownMessage(Message):
    """A record of a newer kind: routable and storable, never taken for generic.

    Its content is the bytes of the whole wire record, kept as they came; the
    envelope's other fields can be read and changed as usual.
    """

    __slots__ = ()

    kind: ClassVar[str] = "unknown"

    def __init__(self, content: bytes, **envelope: Any) -> None:
        super().__init__(content, **envelope)
        self.wire_origin = pb.Message.FromString(content)

    @property
    def rendered(self) -> NoReturn:
        """Nothing: this code does not know how.

        Raises:
            UnsupportedContentError: Always.
        """
        raise UnsupportedContentError("the message's content is of a kind this client does not know")

    @classmethod
    def _coerce(cls, content: Any) -> Any:
        if not isinstance(content, bytes):
            raise TypeError("content must be the bytes of a wire record")
        return content

    def _content_to_plain(self) -> str:
        return base64.b64encode(self._content).decode("ascii")

    @classmethod
    def _content_from_plain(cls, content: Any) -> Any:
        if not isinstance(content, str):
            return content
        try:
            return base64.b64decode(content, validate=True)
        except binascii.Error as error:
            raise ValueError("content of an unknown message must be base64") from error
