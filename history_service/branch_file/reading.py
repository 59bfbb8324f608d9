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
from antiphon_client.branch_file import FORMAT, LINE_END, READABLE_VERSIONS
from antiphon_client.errors import AntiphonError, FieldInvalidError, SizeLimitExceededError, Violation
from antiphon_client.limits import Limits
from antiphon_client.messages.validation import canonicalize_message, kind_of, validate_message
from history_service.branch_file.action_links import ActionLinks
from history_service.branch_file.spool import MessageSpool, SpooledMessage
from history_service.branch_file.text import LineError, fill, message_of, record_of
from history_service.domain.importing import Imported
from history_service.domain.prepared import ACTION_REQUEST, ACTION_RESPONSE, KIND_NUMBERS, SYSTEM, encode
from history_service.request_checks import check_branch_metadata

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

    Cost: some 150 µs a message, so that it belongs on a thread.
    """

    def __init__(self, spool: MessageSpool, limits: Limits) -> None:
        """Read into an empty spool, which stays the caller's."""
        self._spool = spool
        self._limits = limits
        self._line_bytes = limits.message_bytes * _LINE_PER_MESSAGE_BYTE
        self._size = 0
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._line = 0
        self._all = hashlib.sha256()
        self._before_footer = hashlib.sha256()
        self._branch: branch_pb.Branch | None = None
        self._ids: set[str] = set()
        self._system_id: str | None = None
        self._view: list[str] | None = None
        self._links = ActionLinks()
        self._footer: dict[str, Any] | None = None

    def feed(self, data: bytes) -> None:
        """Take the next bytes.

        Raises:
            FieldInvalidError: A line is wrong; its number, from 1, is in the metadata as ``line``.
            ReservedKeyError: The branch's metadata uses a reserved key.
            SizeLimitExceededError: The file, a line or a message is too large.
        """
        self._size += len(data)
        if self._size > self._limits.import_bytes:
            raise SizeLimitExceededError.of(
                "the file", limit_name="import_bytes", limit=self._limits.import_bytes, actual=self._size
            )
        self._all.update(data)
        for line in self._whole_lines(data):
            self._line += 1
            try:
                self._take(line)
            except AntiphonError as error:
                error.metadata["line"] = str(self._line)
                raise
            except LineError as error:
                self._refuse(str(error))

    def finish(self) -> BranchFile:
        """Return what the file holds; it has no more bytes.

        Raises:
            FieldInvalidError: The file is incomplete, or its footer tells of another one.
        """
        # What is missing belongs to the line after the last whole one.
        if self._pending_size or self._footer is None or self._branch is None:
            self._line += 1
            self._refuse("the file ends here, before its footer's end")
        fault = self._links.fault()
        if fault is not None:
            self._line = fault.line
            self._refuse(fault.description, fault.field)
        content = Imported(self._branch.metadata_json, self._spool, self._system_id, self._view)
        return BranchFile(content, self._all.digest())

    def _whole_lines(self, data: bytes) -> Iterator[bytes]:
        *ends, rest = data.split(LINE_END)
        for end in ends:
            yield b"".join((*self._pending, end))
            self._pending, self._pending_size = [], 0
        if rest:
            self._pending.append(rest)
            self._pending_size += len(rest)
        if self._pending_size > self._line_bytes:
            raise SizeLimitExceededError(
                f"line {self._line + 1} is longer than {self._line_bytes} bytes",
                metadata={
                    "limit_name": "message_bytes",
                    "limit": str(self._limits.message_bytes),
                    "actual": str(self._pending_size),
                    "line": str(self._line + 1),
                },
            )

    def _take(self, line: bytes) -> None:
        if self._footer is not None:
            self._refuse("the file goes on after its footer")
        kind, record = record_of(line)
        if self._branch is None:
            self._take_header(kind, record)
        else:
            taker = self._takers.get(kind)
            if taker is None or len(record) > 1:
                self._refuse("not a record of a message, of a view or of the end")
            taker(self, record[kind])
        if self._footer is None:
            self._before_footer.update(line)
            self._before_footer.update(LINE_END)

    def _take_header(self, kind: str, record: dict[str, Any]) -> None:
        if kind != "format" or record[kind] != FORMAT:
            self._refuse("not the first line of a branch file")
        version = record.get("version")
        if type(version) is not int or version not in READABLE_VERSIONS:
            self._refuse(f"version {version!r} of the format; this service reads {sorted(READABLE_VERSIONS)}")
        branch = branch_pb.Branch()
        fill(branch, record.get("branch"), "branch", lenient=True)
        check_branch_metadata(branch.metadata_json, self._limits)
        self._branch = branch
        self._view = [] if branch.HasField("view_count") else None

    def _take_message(self, fields: Any) -> None:
        if self._view:
            self._refuse("a message after the view")
        message = message_of(fields)
        violations: list[Violation] = []
        validate_message(message, "message", violations, self._limits)
        for field, given in (("id", bool(message.id)), ("created_at", message.HasField("created_at"))):
            if not given:
                violations.append(Violation(f"message.{field}", "is required"))
        if violations:
            self._refuse_fields(violations)
        if message.id in self._ids:
            self._refuse("comes twice in the file", "message.id")
        kind = KIND_NUMBERS[kind_of(message)]
        if kind == SYSTEM:
            if self._ids:
                self._refuse("a system record that is not the first message", "message.system")
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
            self._refuse(fault.description, fault.field)
        canonicalize_message(message)
        if kind == ACTION_REQUEST and link_id is not None:
            message.action_request.action_response_id = link_id
        return SpooledMessage(message.id, kind, link_id, interim, encode(message))

    def _take_view(self, message_ids: Any) -> None:
        if self._view is None:
            self._refuse("a view, of which the first line tells nothing")
        if not isinstance(message_ids, list) or not message_ids:
            self._refuse("view is not an array of ids, of one at least")
        known = set(self._view)
        for message_id in message_ids:
            if not isinstance(message_id, str) or message_id not in self._ids:
                self._refuse("an id that is no message of the file", "view")
            if message_id in known:
                self._refuse("an id that comes twice", "view")
            known.add(message_id)
            self._view.append(message_id)

    def _take_end(self, footer: Any) -> None:
        view_count = None if self._view is None else len(self._view)
        if not isinstance(footer, dict):
            self._refuse("end is not an object")
        found = {"messages": len(self._spool), "view": view_count}
        told = {name: footer.get(name) for name in found}
        if told != found:
            self._refuse(f"the footer tells of {told}; the file has {found}")
        if footer.get("sha256") != self._before_footer.hexdigest():
            self._refuse("the lines do not match the hash in the footer")
        self._footer = footer

    _takers: dict[str, Callable[[BranchFileReader, Any], None]] = {  # noqa: RUF012 (never changed)
        "message": _take_message,
        "view": _take_view,
        "end": _take_end,
    }

    def _refuse(self, description: str, field: str = "") -> NoReturn:
        self._refuse_fields([Violation(field or "data", description)])

    def _refuse_fields(self, violations: list[Violation]) -> NoReturn:
        error = FieldInvalidError.of_all(violations)
        raise FieldInvalidError(
            f"line {self._line}: {error.message}",
            metadata=error.metadata | {"line": str(self._line)},
            violations=error.violations,
        ) from None
