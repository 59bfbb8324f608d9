"""What can be read of one branch (ADR-0006 D3), written once for both kinds of client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar
from uuid import UUID

from antiphon_client.branch_transfer import FileTarget, Progress
from antiphon_client.errors import FieldInvalidError, ProgressionInvalidError
from antiphon_client.history_operations import HistoryOperations
from antiphon_client.messages import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    Instruction,
    Message,
    System,
)
from antiphon_client.records import BranchRecord, MessagePage, SnapshotRecord
from antiphon_client.rpc import Steps
from antiphon_client.wire_values import Id, Kind, branch_uuid

MessageT = TypeVar("MessageT", bound=Message)

PAGE = 1000
"""Messages asked for in one page of a whole list."""

INVALID_PROGRESSION = "One or more messages in the requested progression are invalid."


class BranchReads:
    """Reads of one branch; they take ``at_revision``: the branch as it stood then."""

    def __init__(self, branch_id: Id, history: HistoryOperations) -> None:
        self.branch_id = branch_uuid(branch_id)
        self._history = history

    def record(self, *, at_revision: int | None = None) -> Steps[BranchRecord]:
        """Read what the branch is: revision, metadata, counts."""
        return self._history.get_branch(self.branch_id, at_revision=at_revision)

    def system(self, *, at_revision: int | None = None) -> Steps[System | None]:
        """Read the system record; None if there is none."""
        return self._history.read_system(self.branch_id, at_revision=at_revision)

    def export(
        self, target: FileTarget, *, at_revision: int | None = None, progress: Progress | None = None
    ) -> Steps[int]:
        """Write the branch to a file, as ``HistoryClient.export_branch`` does; return its size in bytes."""
        return self._history.export_branch(self.branch_id, target, at_revision=at_revision, progress=progress)

    def progression(self, *, at_revision: int | None = None) -> Steps[tuple[UUID, ...]]:
        """Read the ids of the selected view, else of the full order. Cost: the ids, not the messages."""
        return self._history.read_order(self.branch_id, at_revision=at_revision)

    def snapshot(
        self, *, progression: Iterable[Id] | None = None, at_revision: int | None = None
    ) -> Steps[SnapshotRecord]:
        """Read a selection whole at one revision, without one the view, else the full order."""
        return self._history.read_snapshot(self.branch_id, progression=progression, at_revision=at_revision)

    def page(
        self,
        *,
        kinds: Iterable[Kind] = (),
        descending: bool = False,
        page_size: int = PAGE,
        page_token: str = "",
        at_revision: int | None = None,
    ) -> Steps[MessagePage]:
        """Read one page of the full order, or of some kinds."""
        return self._history.list_messages(
            self.branch_id,
            kinds=tuple(kinds),
            descending=descending,
            page_size=page_size,
            page_token=page_token,
            at_revision=at_revision,
        )

    def assistant_responses(self, *, at_revision: int | None = None) -> Steps[list[AssistantResponse]]:
        """Read every assistant response, in order."""
        return self._all_of(AssistantResponse, ("assistant_response",), at_revision)

    def instructions(self, *, at_revision: int | None = None) -> Steps[list[Instruction]]:
        """Read every instruction, in order."""
        return self._all_of(Instruction, ("instruction",), at_revision)

    def action_requests(self, *, at_revision: int | None = None) -> Steps[list[ActionRequest]]:
        """Read every action request, in order."""
        return self._all_of(ActionRequest, ("action_request",), at_revision)

    def action_responses(self, *, at_revision: int | None = None) -> Steps[list[ActionResponse]]:
        """Read every action response, in order."""
        return self._all_of(ActionResponse, ("action_response",), at_revision)

    def actions(self, *, at_revision: int | None = None) -> Steps[list[Message]]:
        """Read every action request and response, in order."""
        return self._all_of(Message, ("action_request", "action_response"), at_revision)

    def last_response(self, *, at_revision: int | None = None) -> Steps[AssistantResponse | None]:
        """Read the last assistant response; None if there is none. Cost: constant."""
        return self._last_of(AssistantResponse, "assistant_response", at_revision)

    def last_instruction(self, *, at_revision: int | None = None) -> Steps[Instruction | None]:
        """Read the last instruction; None if there is none. Cost: constant."""
        return self._last_of(Instruction, "instruction", at_revision)

    def to_chat_msgs(
        self, progression: Iterable[Id] | None = None, *, at_revision: int | None = None
    ) -> Steps[list[dict[str, Any] | None]]:
        """Project messages as they are, each through its ``chat_msg``: nothing folded or filtered.

        Without a progression it is the full order; an empty one gives an empty
        list. An id may stand in it twice. A message whose rendering fails gives None.

        Raises:
            ValueError: An id is not in the branch, or no UUID.
        """
        if progression is None:
            messages = yield from self._all_of(Message, (), at_revision)
            return [message.chat_msg for message in messages]
        wanted = [str(message_id) for message_id in progression]
        if not wanted:
            return []
        try:
            snapshot = yield from self.snapshot(progression=dict.fromkeys(wanted), at_revision=at_revision)
        except (ProgressionInvalidError, FieldInvalidError) as error:
            raise ValueError(INVALID_PROGRESSION) from error
        found = {str(message.id): message for message in snapshot.messages}
        return [found[message_id].chat_msg for message_id in wanted]

    def _all_of(
        self, kind: type[MessageT], kinds: tuple[Kind, ...], at_revision: int | None
    ) -> Steps[list[MessageT]]:
        found: list[MessageT] = []
        token = ""  # nosec B105: a page's
        while True:
            page = yield from self.page(kinds=kinds, page_token=token, at_revision=at_revision)
            found.extend(message for message in page.items if isinstance(message, kind))
            token = page.next_page_token
            if not token:
                return found

    def _last_of(self, kind: type[MessageT], name: Kind, at_revision: int | None) -> Steps[MessageT | None]:
        page = yield from self.page(kinds=(name,), descending=True, page_size=1, at_revision=at_revision)
        return next((message for message in page.items if isinstance(message, kind)), None)
