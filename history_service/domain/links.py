"""Action correlation: which response answers which request (ADR-0006 P5, D2).

The service owns the links. A response names its request; the request names its
final response; both sides change in one revision. An interim response carries
the link but does not answer. In an import a response may come before its
request; the link is completed when the request comes.
"""

from __future__ import annotations

from collections.abc import Iterable

from antiphon_client.errors import (
    ActionAlreadyAnsweredError,
    ActionRequestUnknownError,
    FieldInvalidError,
)
from history_service.domain.changeset import Changeset, Entry
from history_service.domain.prepared import ACTION_REQUEST, ACTION_RESPONSE, PreparedMessage


def check_response(changes: Changeset, request_id: str, response_id: str, *, allow_unresolved: bool) -> None:
    """Check that a response may be linked to the request it names.

    Raises:
        ActionRequestUnknownError: There is no such request, and none may come later.
        ActionAlreadyAnsweredError: Another response is its final one.
    """
    request = changes.find(request_id)
    if request_id == response_id or (request is None and not allow_unresolved):
        raise _unknown(request_id)
    if request is not None and request.kind != ACTION_REQUEST:
        raise _unknown(request_id)
    answer = _final_response_id(changes, request_id, request)
    if answer is not None and answer != response_id:
        raise ActionAlreadyAnsweredError(
            f"action request {request_id} already has its final response {answer}",
            metadata={"action_request_id": request_id, "action_response_id": answer},
        )


def _unknown(request_id: str) -> ActionRequestUnknownError:
    return ActionRequestUnknownError(
        f"no action request {request_id} in the branch", metadata={"action_request_id": request_id}
    )


def _final_response_id(changes: Changeset, request_id: str, request: Entry | None) -> str | None:
    if request is not None:
        return request.link_id
    waiting = changes.linked_to(request_id)
    return next((e.message_id for e in waiting if e.kind == ACTION_RESPONSE and not e.interim), None)


def complete(changes: Changeset, entry: Entry) -> None:
    """Set the other side of a new or changed message's link, where there is one to set."""
    if entry.kind == ACTION_REQUEST:
        answer = next((e for e in changes.linked_to(entry.message_id) if _answers(e)), None)
        if answer is not None and entry.link_id is None:
            changes.set_link(entry, answer.message_id)
    elif _answers(entry) and entry.link_id is not None:
        request = changes.find(entry.link_id)
        if request is not None and request.kind == ACTION_REQUEST and request.link_id is None:
            changes.set_link(request, entry.message_id)


def _answers(entry: Entry) -> bool:
    return entry.kind == ACTION_RESPONSE and not entry.interim


def append(changes: Changeset, prepared: PreparedMessage, *, allow_unresolved: bool) -> Entry:
    """Append a message and link it both ways, where it has or completes a link.

    Raises:
        ActionRequestUnknownError: See ``check_response``.
        ActionAlreadyAnsweredError: See ``check_response``.
    """
    if prepared.link_id is not None:
        check_response(changes, prepared.link_id, prepared.message_id, allow_unresolved=allow_unresolved)
    entry = changes.append(prepared)
    # Nothing can await a request whose id the server has just made.
    if prepared.kind == ACTION_RESPONSE or (prepared.kind == ACTION_REQUEST and not prepared.fresh):
        complete(changes, entry)
    return entry


def replace_response(
    changes: Changeset, entry: Entry, prepared: PreparedMessage, *, field: str, allow_unresolved: bool
) -> None:
    """Replace a response by another version; its link stays, or is made if it had none.

    Raises:
        FieldInvalidError: It names another request, or would take back an answer.
        ActionRequestUnknownError: See ``check_response``.
        ActionAlreadyAnsweredError: See ``check_response``.
    """
    named, kept = prepared.link_id, entry.link_id
    if prepared.interim and not entry.interim:
        raise FieldInvalidError.of(f"{field}.action_response.state", "a final response cannot become interim")
    if named is not None and kept is not None and named != kept:
        raise FieldInvalidError.of(
            f"{field}.action_response.action_request_id", "a replacement cannot answer another request"
        )
    if kept is None and named is not None:
        check_response(changes, named, entry.message_id, allow_unresolved=allow_unresolved)
    elif kept is not None and entry.interim and not prepared.interim:
        check_response(changes, kept, entry.message_id, allow_unresolved=True)
    changes.replace(entry, prepared)
    if kept is None and named is not None:
        changes.set_link(entry, named)
    complete(changes, entry)


def clear_links_to(changes: Changeset, removed: Iterable[Entry]) -> None:
    """Clear the surviving sides' links to requests and responses just removed."""
    gone = [entry for entry in removed if entry.kind in (ACTION_REQUEST, ACTION_RESPONSE)]
    changes.load_links(entry.message_id for entry in gone)
    for entry in gone:
        for survivor in changes.linked_to(entry.message_id):
            # A response may still await a request of an id that a response has now.
            if survivor.kind != entry.kind:
                changes.set_link(survivor, None)
