"""Action links in a file: both sides must say the same, as they do in every branch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.ids import is_canonical_uuid


class LinkFault(NamedTuple):
    """A link that no branch can have."""

    line: int
    field: str
    description: str


class _Side(NamedTuple):
    """One side of a link: the line it stands on and the response that it makes the answer."""

    line: int
    response_id: str | None


class _Named(NamedTuple):
    """What a response names, and the line it stands on."""

    line: int
    request_id: str


_ANSWER = "message.action_request.action_response_id"
_ASKER = "message.action_response.action_request_id"


class ActionLinks:
    """Gathers the links of a file's messages and compares their two sides at its end.

    What a branch cannot have is a fault here, and nothing else is: a response
    may await a request that is not there, also one whose id another record has
    by now, and any number of interim responses may name one request.
    """

    def __init__(self) -> None:
        self._requests: dict[str, _Side] = {}
        """Request id to the response it names, and where."""
        self._finals: dict[str, _Side] = {}
        """Request id to the final response that names it, and where."""
        self._named: dict[str, _Named] = {}
        """Response id to the request it names, and where."""

    def request(self, line: int, message: message_pb.Message) -> LinkFault | None:
        """Note an action request; return what is wrong with it alone."""
        content = message.action_request
        answer = content.action_response_id if content.HasField("action_response_id") else None
        if answer is not None and not is_canonical_uuid(answer):
            return LinkFault(line, _ANSWER, "must be a UUID in canonical lower-case text")
        self._requests[message.id] = _Side(line, answer)
        return None

    def response(self, line: int, message: message_pb.Message) -> LinkFault | None:
        """Note an action response; return what is wrong with it alone."""
        content = message.action_response
        if not content.HasField("action_request_id"):
            return None
        request_id = content.action_request_id
        self._named[message.id] = _Named(line, request_id)
        if content.state == message_pb.ACTION_RESPONSE_STATE_INTERIM:
            return None
        if request_id in self._finals:
            other = self._finals[request_id].response_id
            return LinkFault(line, _ASKER, f"the request is answered by {other}")
        self._finals[request_id] = _Side(line, message.id)
        return None

    def fault(self) -> LinkFault | None:
        """Return the first link whose other side does not agree; None where all do."""
        return min((*self._one_sided(), *self._circles()), default=None)

    def _one_sided(self) -> Iterator[LinkFault]:
        for request_id, asked in self._requests.items():
            final = self._finals.get(request_id)
            if asked.response_id is not None and (final is None or final.response_id != asked.response_id):
                description = f"{asked.response_id} is no final response of the file to this request"
                yield LinkFault(asked.line, _ANSWER, description)
            elif final is not None and final.response_id != asked.response_id:
                yield LinkFault(final.line, _ASKER, f"request {request_id} does not name this response")

    def _circles(self) -> Iterator[LinkFault]:
        """Yield a response of every circle.

        No branch has one: whichever came into it last would have named a
        record that was there and no request, and that is refused.
        """
        visits: dict[str, str] = {}
        for start in self._named:
            current = start
            while current in self._named and current not in visits:
                visits[current] = start
                current = self._named[current].request_id
            if visits.get(current) == start:
                yield LinkFault(self._named[current].line, _ASKER, "names itself, or over others itself")
