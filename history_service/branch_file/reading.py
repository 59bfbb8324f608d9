"""Reading a branch's file, all or nothing, while it arrives.

The first line that is wrong ends the reading with its number. Everything is
checked here that the store's rows depend on: the messages' own rules, unique
ids, one system record at index 0, both sides of every action link, the view's
ids, and at the end the counts and the hash of the footer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from antiphon.history.v1 import branch_pb2 as branch_pb
from antiphon.message.v1 import message_pb2 as message_pb
from antiphon_client.branch_file import LINE_END
from antiphon_client.errors import AntiphonError, FieldInvalidError, SizeLimitExceededError, Violation
from antiphon_client.limits import Limits
from antiphon_client.messages.validation import canonicalize_message, kind_of, validate_message
from history_service.branch_file.action_links import ActionLinks
from history_service.branch_file.ends import branch_of, check_footer
from history_service.branch_file.proto_json import fill, refuse_unknown
from history_service.branch_file.spool import MessageSpool, SpooledMessage
from history_service.branch_file.text import record_of
from history_service.domain.importing import Imported
from history_service.domain.prepared import ACTION_REQUEST, ACTION_RESPONSE, KIND_NUMBERS, SYSTEM, encode

_LINE_PER_MESSAGE_BYTE = 8
"""Bytes of a line for each byte of a message, at most: an escape has six, and there are names."""


@dataclass(frozen=True, slots=True)
class BranchFile:
    """What a whole, good file holds.

    Attributes:
        content: The branch, ready to be made.
        sha256: Hash of all bytes of the file.
    """

    content: Imported
    sha256: bytes


class BranchFileReader:
    """Takes a file's bytes, cut anywhere.

    Cost: some 75 µs a message, so that it belongs on a thread.
    """

    def __init__(self, spool: MessageSpool, limits: Limits) -> None:
        """Read into an empty spool, which stays the caller's."""
        self._spool = spool
        self._limits = limits
        self._line_bytes = limits.message_bytes * _LINE_PER_MESSAGE_BYTE
        self._size = 0
        self._pending = bytearray()  # One buffer: a chunk may be a byte, and an object costs 40.
        self._line = 0
        self._all = hashlib.sha256()
        self._before_footer = hashlib.sha256()
        self._branch: branch_pb.Branch | None = None
        self._ids: set[str] = set()
        self._system_id: str | None = None
        self._view: dict[str, None] | None = None
        """The view's ids in order; a dict, as each comes once."""
        self._links = ActionLinks()
        self._is_ended = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes.

        Raises:
            FieldInvalidError: A line is wrong; its number, from 1, is in the metadata as ``line``.
            ReservedKeyError: The branch's metadata uses a reserved key.
            SizeLimitExceededError: The file, a line or a message is too large.
        """
        self._size += len(data)
        if self._size > self._limits.import_bytes:
            error = SizeLimitExceededError.of(
                "the file", limit_name="import_bytes", limit=self._limits.import_bytes, actual=self._size
            )
            raise _at_line(error, self._line + 1)
        self._all.update(data)
        for line in self._whole_lines(data):
            self._line += 1
            try:
                self._take(line)
            except AntiphonError as error:
                raise _at_line(error, self._line) from None

    def finish(self) -> BranchFile:
        """Return what the file holds; it has no more bytes.

        Raises:
            FieldInvalidError: The file is incomplete, or its footer tells of another one.
        """
        if self._pending or not self._is_ended or self._branch is None:
            missing = FieldInvalidError.of("data", "the file ends here, before its last line, `end`")
            # What is missing belongs to the line after the last whole one.
            raise _at_line(missing, self._line + 1)
        fault = self._links.fault()
        if fault is not None:
            raise _at_line(FieldInvalidError.of(fault.field, fault.description), fault.line)
        view = None if self._view is None else list(self._view)
        content = Imported(self._branch.metadata_json, self._spool, self._system_id, view)
        return BranchFile(content, self._all.digest())

    def _whole_lines(self, data: bytes) -> Iterator[bytes]:
        *ends, rest = data.split(LINE_END)
        for end in ends:
            yield bytes(self._pending) + end if self._pending else end
            self._pending.clear()
        self._pending += rest
        if len(self._pending) > self._line_bytes:
            metadata = {
                "limit_name": "message_bytes",
                "limit": str(self._limits.message_bytes),
                "actual": str(len(self._pending)),
            }
            error = SizeLimitExceededError(f"longer than {self._line_bytes} bytes", metadata=metadata)
            raise _at_line(error, self._line + 1)

    def _take(self, line: bytes) -> None:
        if self._is_ended:
            _refuse("data", "the file goes on after its last line, `end`")
        kind, record = record_of(line)
        if self._branch is None:
            self._branch = branch_of(record, self._limits)
            self._view = {} if self._branch.HasField("view_count") else None
        else:
            taker = self._takers.get(kind)
            if taker is None:
                _refuse("data", "not a record of a message, of a view or of the end")
            for name in record:
                if name != kind:
                    refuse_unknown("", name)
            taker(self, record[kind])
        if not self._is_ended:
            self._before_footer.update(line)
            self._before_footer.update(LINE_END)

    def _take_message(self, fields: Any) -> None:
        if self._view:
            _refuse("message", "comes after the view")
        message = message_pb.Message()
        fill(message, fields, "message")
        violations: list[Violation] = []
        validate_message(message, "message", violations, self._limits)
        for field, given in (("id", bool(message.id)), ("created_at", message.HasField("created_at"))):
            if not given:
                violations.append(Violation(f"message.{field}", "is required"))
        if violations:
            raise FieldInvalidError.of_all(violations)
        if message.id in self._ids:
            _refuse("message.id", "comes twice in the file")
        kind = KIND_NUMBERS[kind_of(message)]
        if kind == SYSTEM:
            if self._ids:
                _refuse("message.system", "must be the first message")
            self._system_id = message.id
        self._ids.add(message.id)
        self._spool.add(self._prepared(message, kind))

    def _prepared(self, message: message_pb.Message, kind: int) -> SpooledMessage:
        """Note a message's link and return it as it is stored."""
        link_id, interim, fault = None, False, None
        if kind == ACTION_REQUEST:
            fault = self._links.request(self._line, message)
            content = message.action_request
            link_id = content.action_response_id if content.HasField("action_response_id") else None
        elif kind == ACTION_RESPONSE:
            fault = self._links.response(self._line, message)
            response = message.action_response
            link_id = response.action_request_id if response.HasField("action_request_id") else None
            interim = response.state == message_pb.ACTION_RESPONSE_STATE_INTERIM
        if fault is not None:
            _refuse(fault.field, fault.description)
        canonicalize_message(message)
        if kind == ACTION_REQUEST and link_id is not None:
            message.action_request.action_response_id = link_id
        elif kind == ACTION_REQUEST:
            self._require_room_for_an_answer(message)
        return SpooledMessage(message.id, kind, link_id, interim, encode(message))

    def _require_room_for_an_answer(self, message: message_pb.Message) -> None:
        """Refuse an open request that its answer's id would make larger than any message may be."""
        # Any other id is as long.
        message.action_request.action_response_id = message.id
        size = message.ByteSize()
        message.action_request.ClearField("action_response_id")
        if size > self._limits.message_bytes:
            raise SizeLimitExceededError.of(
                "message with the id of its answer",
                limit_name="message_bytes",
                limit=self._limits.message_bytes,
                actual=size,
            )

    def _take_view(self, message_ids: Any) -> None:
        if self._view is None:
            _refuse("view", "the first line tells of no view: its branch has no view_count")
        if not isinstance(message_ids, list) or not message_ids:
            _refuse("view", "must be an array of ids, of one at least")
        for index, message_id in enumerate(message_ids):
            if not isinstance(message_id, str) or message_id not in self._ids:
                _refuse(f"view[{index}]", "must be the id of a message of the file")
            if message_id in self._view:
                _refuse(f"view[{index}]", "comes twice in the view")
            self._view[message_id] = None

    def _take_end(self, footer: Any) -> None:
        view_count = None if self._view is None else len(self._view)
        sha256 = self._before_footer.hexdigest()
        check_footer(footer, messages=len(self._spool), view=view_count, sha256=sha256)
        self._is_ended = True

    _takers: dict[str, Callable[[BranchFileReader, Any], None]] = {  # noqa: RUF012 (never changed)
        "message": _take_message,
        "view": _take_view,
        "end": _take_end,
    }


def _refuse(field: str, description: str) -> NoReturn:
    raise FieldInvalidError.of(field, description)


def _at_line(error: AntiphonError, line: int) -> AntiphonError:
    """Return the error with the number of the line it is about, from 1."""
    return type(error)(
        f"line {line}: {error.message}",
        metadata=error.metadata | {"line": str(line)},
        violations=error.violations,
    )
