"""Action links in a file: both sides must say the same, as they do in every branch."""

from __future__ import annotations

from typing import NamedTuple

from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.ids import is_canonical_uuid


class LinkFault(NamedTuple):
    """A link that no branch can have."""

    line: int
    field: str
    description: str


class _Side(NamedTuple):
    line: int
    message_id: str


class ActionLinks:
    """Gathers the links of a file's messages and compares their two sides at its end."""

    def __init__(self) -> None:
        self._named: dict[str, _Side] = {}
        """Response id to the request that names it."""
        self._requests: dict[str, str | None] = {}
        """Request id to the response it names."""
        self._finals: dict[str, _Side] = {}
        """Request id to the final response that names it."""

    def request(self, line: int, message: message_pb.Message) -> LinkFault | None:
        """Note an action request; return what is wrong with it alone."""
        content = message.action_request
        answer = content.action_response_id if content.HasField("action_response_id") else None
        self._requests[message.id] = answer
        if answer is None:
            return None
        field = "message.action_request.action_response_id"
        if not is_canonical_uuid(answer):
            return LinkFault(line, field, "must be a UUID in canonical lower-case text")
        self._named[answer] = _Side(line, message.id)
        return None

    def response(self, line: int, message: message_pb.Message) -> LinkFault | None:
        """Note an action response; return what is wrong with it alone."""
        content = message.action_response
        if content.state == message_pb.ACTION_RESPONSE_STATE_INTERIM or not content.HasField(
            "action_request_id"
        ):
            return None
        request_id = content.action_request_id
        if request_id in self._finals:
            other = self._finals[request_id].message_id
            return LinkFault(
                line, "message.action_response.action_request_id", f"the request is answered by {other}"
            )
        self._finals[request_id] = _Side(line, message.id)
        return None

    def fault(self) -> LinkFault | None:
        """Return the first link whose other side does not agree; None where all do."""
        for answer_id, asker in self._named.items():
            final = self._finals.get(asker.message_id)
            if final is None or final.message_id != answer_id:
                return LinkFault(
                    asker.line,
                    "message.action_request.action_response_id",
                    f"{answer_id} is no final response of the file to this request",
                )
        for request_id, final in self._finals.items():
            # A response may await a request that is not there.
            if request_id in self._requests and self._requests[request_id] != final.message_id:
                return LinkFault(
                    final.line,
                    "message.action_response.action_request_id",
                    f"request {request_id} does not name this response",
                )
        return None
