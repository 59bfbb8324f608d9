"""ParseResponse: a provider's whole answer as the messages to append."""

from __future__ import annotations

from antiphon.compiler.v1.provider_pb2 import ParseResponseRequest, ParseResponseResponse
from antiphon_client.errors import FieldInvalidError
from antiphon_client.limits import Limits
from antiphon_client.provider_streams.deltas import error_words
from antiphon_client.provider_streams.records import ResponseContext, response_fields
from antiphon_client.provider_streams.reducer import Reducer
from antiphon_client.provider_streams.shapes import Node, ShapeError
from compiler_service.responses.checks import check_action_names, check_target
from compiler_service.responses.replies import checked_reply
from compiler_service.responses.whole import whole_deltas

_PAYLOAD = "payload_json"


def parse_response(request: ParseResponseRequest, limits: Limits) -> ParseResponseResponse:
    """Turn a provider's whole answer into the messages to append.

    Args:
        request: The request; not changed.
        limits: Gives ``reply_bytes``.

    Raises:
        FieldInvalidError: A field breaks its rule, or the payload is no answer
            of the target, or it is the provider's error.
        TargetUnknownError: No target has the name.
        StreamIncompleteError: A call's arguments were cut, or the provider calls
            what the model wrote malformed and nothing else was said, and the
            request does not keep what there is.
        SizeLimitExceededError: The reply is larger than a unary reply may be.

    Cost: in step with the payload.
    """
    check_target(request.target, "target")
    check_action_names(request.action_names, "action_names")
    reducer = Reducer()
    try:
        payload = _payload(request.payload_json)
        has_ended = False
        for delta in whole_deltas(request.target, payload):
            has_ended = has_ended or delta.HasField("done")
            # Said of an answer that has its end, it is a fault of that answer.
            if delta.HasField("error") and not has_ended:
                raise _provider_error(delta.error)
            reducer.add(delta)
    except ShapeError as error:
        path = f"{_PAYLOAD}.{error.path}" if error.path else _PAYLOAD
        raise FieldInvalidError.of(path, error.reason) from None
    names = {each.provider_name: each.name for each in request.action_names}
    fields = response_fields(reducer.result(), ResponseContext(request.target, request.model, names))
    return checked_reply(ParseResponseResponse(**fields), request.keep_partial, limits)


def _payload(text: str) -> Node:
    if not text:
        raise ShapeError("", "is required")
    payload = Node.parse(text)
    if not isinstance(payload.value, dict):
        raise ShapeError("", "must be an object")
    words = error_words(payload)
    # A response object of OpenAI's has an error of its own: that of a run that failed.
    if words is not None:
        raise _provider_error(words)
    return payload


def _provider_error(words: str) -> FieldInvalidError:
    return FieldInvalidError.of(_PAYLOAD, f"is the provider's error, not a response: {words}")
