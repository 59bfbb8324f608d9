"""The methods an edge answers for, and the reading of their requests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from antiphon_client.edge.unknown_fields import discard_unknown, unknown_field_error
from antiphon_client.errors import MalformedRequestError, SizeLimitExceededError


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC.

    Attributes:
        path: Full name as gRPC spells it, such as ``/package.Service/Method``.
        request_type: Class of its request.
        opaque: Request paths whose unknown fields are left to the servicer.
        standing: Whether its calls last until somebody ends them, as a watch's do.
        is_write: Whether it may change something.
    """

    path: str
    request_type: type[Message]
    opaque: frozenset[str] = frozenset()
    standing: bool = False
    is_write: bool = False

    def read(self, raw: bytes, limit: int) -> Message:
        """Parse a request.

        Args:
            raw: The request's bytes.
            limit: ``request_bytes``, the largest request in bytes.

        Raises:
            SizeLimitExceededError: It is larger than ``limit``.
            MalformedRequestError: It is not an encoded request of this type.
            UnknownFieldError: It has fields that the type does not, outside of
                the opaque paths.
        """
        if len(raw) > limit:
            raise SizeLimitExceededError.of(
                "request", limit_name="request_bytes", limit=limit, actual=len(raw)
            )
        request = self._parse(raw)
        if not discard_unknown(request):
            return request
        request = self._parse(raw)
        error = unknown_field_error(request, self.opaque)
        if error is not None:
            raise error
        return request

    def _parse(self, raw: bytes) -> Message:
        try:
            return self.request_type.FromString(raw)
        except DecodeError:
            name = self.request_type.DESCRIPTOR.full_name
            raise MalformedRequestError(f"the request is not an encoded {name}") from None


def methods_of(
    service: ServiceDescriptor,
    opaque: Mapping[str, frozenset[str]] | None = None,
    standing: Collection[str] = (),
    writes: Collection[str] = (),
) -> dict[str, Method]:
    """List a service's methods by path.

    Args:
        service: The service's descriptor.
        opaque: By method name, request paths whose unknown fields are left to
            the servicer.
        standing: Names of the methods whose calls last until somebody ends them.
        writes: Names of the methods that may change something.
    """
    opaque = opaque or {}
    methods = {}
    for method in service.methods:
        path = f"/{service.full_name}/{method.name}"
        request_type = GetMessageClass(method.input_type)
        paths = opaque.get(method.name, frozenset())
        methods[path] = Method(
            path, request_type, paths, standing=method.name in standing, is_write=method.name in writes
        )
    return methods
