"""Which parts of a turn a target takes; what it does not goes with a note."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import is_
from typing import Any

from antiphon.compiler.v1 import compiled_message_pb2 as notes_pb
from antiphon.compiler.v1.compiled_message_pb2 import CompileNoteKind
from antiphon.message.v1 import message_pb2
from compiler_service.json_values import parse_checked
from compiler_service.native.blank_texts import drop_blank
from compiler_service.native.turns import (
    CallPart,
    ImagePart,
    JsonPart,
    NativeTurn,
    OpaquePart,
    Part,
    ResultContent,
    ResultPart,
    TextPart,
    ThinkingPart,
)
from compiler_service.projection.images import asks_detail, source_of
from compiler_service.projection.request_target import Target
from compiler_service.remarks import Remarks
from compiler_service.texts import is_blank

_USER = message_pb2.ROLE_USER
_ASSISTANT = message_pb2.ROLE_ASSISTANT
_TOOL = message_pb2.ROLE_TOOL
_THINKING_DROPPED = notes_pb.COMPILE_NOTE_KIND_THINKING_DROPPED
_BASE64 = re.compile(r"[A-Za-z0-9+/]*+={0,2}")

REASONING_ECHO = "reasoning_echo"
"""The flag under which reasoning goes along as plain text."""


class PartRules:
    """The rules of one target, applied part by part."""

    def __init__(self, target: Target, losses: Remarks) -> None:
        self._target = target
        self._row = target.row
        self._losses = losses

    def kept(self, turn: NativeTurn, *, is_current: bool) -> NativeTurn | None:
        """Return a turn with the parts that the target takes; None where none is left.

        Args:
            turn: The turn; one that `is_plain` stays as it is.
            is_current: Whether it follows the last user turn.
        """
        if turn.role == _TOOL:
            return self._kept_results(turn)
        is_user = turn.role == _USER
        parts: list[Part] = []
        for part in turn.parts:
            kept: Part | None
            if isinstance(part, TextPart):
                kept = self._text(part)
            elif is_user:
                kept = self._user_part(part)
            else:
                kept = self._assistant_part(part, is_current)
            if kept is not None:
                parts.append(kept)
        if not is_user and not self._row.ends_with_thinking:
            self._drop_last_thinking(parts)
        return _with_parts(turn, parts) if parts else None

    def is_thinking(self, part: Part) -> bool:
        """Tell whether a part is reasoning, readable or not."""
        return isinstance(part, ThinkingPart) or (
            isinstance(part, OpaquePart) and part.kind in self._row.thinking_kinds
        )

    def _kept_results(self, turn: NativeTurn) -> NativeTurn:
        results: list[Part] = []
        for part in turn.parts:
            if isinstance(part, ResultPart):
                results.append(self._kept_result(part))
            else:
                self._drop(part, "other than a result in a tool's turn")
        return _with_parts(turn, results)

    def _kept_result(self, part: ResultPart) -> ResultPart:
        if part.is_error and not self._row.error_flag:
            self._losses.add(notes_pb.COMPILE_NOTE_KIND_ERROR_FLAG_DROPPED, part.message_id)
        kept = [self._result_item(item) for item in part.content]
        if _are_same(kept, part.content):
            return part
        return part._replace(content=tuple([item for item in kept if item is not None]))

    def _result_item(self, item: ResultContent) -> ResultContent | None:
        if isinstance(item, ImagePart):
            if not self._row.result_images:
                self._drop(item, "image of a result")
                return None
            return self._image(item)
        if isinstance(item, OpaquePart):
            return self._opaque(item, self._row.opaque_in_result)
        return self._marked(item) if isinstance(item, TextPart) else item

    def _user_part(self, part: Part) -> Part | None:
        if isinstance(part, ImagePart):
            return self._image(part)
        if isinstance(part, OpaquePart):
            return self._opaque(part, self._row.opaque_in_user)
        self._drop(part, f"{_kind_of(part)} in a user's turn")
        return None

    def _assistant_part(self, part: Part, is_current: bool) -> Part | None:
        if isinstance(part, CallPart):
            return part if part.thought_signature is None else self._call(part)
        if isinstance(part, ThinkingPart):
            return self._thinking(part, is_current)
        if isinstance(part, OpaquePart):
            return self._opaque(part, self._row.opaque_in_assistant)
        self._drop(part, f"{_kind_of(part)} in an assistant's turn")
        return None

    def _text(self, part: TextPart) -> TextPart | None:
        if is_blank(part.text):
            drop_blank(part, self._losses)
            return None
        return part if part.cache_mark is None else self._marked(part)

    def _marked(self, part: TextPart) -> TextPart:
        mark = part.cache_mark
        if mark is None:
            return part
        row = self._row
        if mark.type in row.cache_types and (mark.ttl is None or mark.ttl in row.cache_ttls):
            return part
        self._losses.add(notes_pb.COMPILE_NOTE_KIND_CACHE_MARK_DROPPED, part.message_id)
        return part._replace(cache_mark=None)

    def _image(self, part: ImagePart) -> ImagePart | None:
        refusal = self._image_refusal(part)
        if refusal is not None:
            self._drop(part, refusal)
            return None
        if asks_detail(part) and not self._row.image_detail:
            kind = notes_pb.COMPILE_NOTE_KIND_PART_CONVERTED
            self._losses.add(kind, part.message_id, "image detail left out")
        return part

    def _image_refusal(self, part: ImagePart) -> str | None:
        row = self._row
        media_type, _, url = source_of(part)
        if url is not None:
            scheme = url.partition(":")[0].lower()
            if scheme not in row.image_url_schemes:
                return f"image at an address of {scheme}" if row.image_url_schemes else "image at an address"
        # What an address leads to is known only where its media type is given.
        if row.image_types is None or media_type in row.image_types or (url is not None and not media_type):
            return None
        return f"image of type {media_type}"

    def _thinking(self, part: ThinkingPart, is_current: bool) -> ThinkingPart | None:
        refusal = self._thinking_refusal(part, is_current)
        if refusal is None:
            return part
        self._drop(part, refusal, _THINKING_DROPPED)
        return None

    def _thinking_refusal(self, part: ThinkingPart, is_current: bool) -> str | None:
        if REASONING_ECHO in self._target.flags:
            return None if is_current else "not of the current turn"
        if self._row.thinking == "dropped":
            return "the target takes none"
        if not part.signature:
            return "unsigned"
        if self._row.call_signatures and _BASE64.fullmatch(part.signature) is None:
            return "signature not in base64"
        return self._issuer_refusal(part.provider, part.model)

    def _opaque(self, part: OpaquePart, kinds: frozenset[str]) -> OpaquePart | None:
        refusal = self._issuer_refusal(part.provider, part.model)
        if refusal is None and part.kind not in kinds:
            refusal = "the target takes none here"
        if refusal is None and not self._has_kind(part):
            refusal = "it is not what its kind says"
        if refusal is None:
            return part
        is_thinking = part.kind in self._row.thinking_kinds
        kind = _THINKING_DROPPED if is_thinking else notes_pb.COMPILE_NOTE_KIND_PART_DROPPED
        self._drop(part, f"{part.kind}: {refusal}", kind)
        return None

    def _has_kind(self, part: OpaquePart) -> bool:
        value: Any = parse_checked(part.data_json)
        if not isinstance(value, dict):
            return False
        return part.kind in value if self._row.opaque_key == "key" else value.get("type") == part.kind

    def _issuer_refusal(self, provider: str | None, model: str | None) -> str | None:
        """Return why a part of this issuer is not replayed; None where it is."""
        if not self._target.keeps_signatures:
            return "signatures are left out as asked"
        if provider != self._row.provider:
            return "of another issuer or of none"
        if model and self._target.model and model != self._target.model:
            return "of another model"
        return None

    def _call(self, part: CallPart) -> CallPart:
        signature = part.thought_signature or ""
        if not self._row.call_signatures:
            reason = "the target takes none"
        elif not self._target.keeps_signatures:
            reason = "signatures are left out as asked"
        elif not signature or _BASE64.fullmatch(signature) is None:
            reason = "not in base64"
        else:
            return part
        self._losses.add(notes_pb.COMPILE_NOTE_KIND_SIGNATURE_DROPPED, part.message_id, reason)
        return part._replace(thought_signature=None)

    def _drop_last_thinking(self, parts: list[Part]) -> None:
        while parts and self.is_thinking(parts[-1]):
            self._drop(parts.pop(), "nothing follows it", _THINKING_DROPPED)

    def _drop(
        self,
        part: Part,
        detail: str,
        kind: CompileNoteKind.ValueType = notes_pb.COMPILE_NOTE_KIND_PART_DROPPED,
    ) -> None:
        self._losses.add(kind, part.message_id, detail)


def is_plain(turn: NativeTurn) -> bool:
    """Tell whether all targets take a turn as it is, as they mostly do; False where that is not clear."""
    role = turn.role
    for part in turn.parts:
        if type(part) is TextPart:
            if role == _TOOL or part.cache_mark or is_blank(part.text):
                return False
        elif type(part) is CallPart:
            if role != _ASSISTANT or part.thought_signature is not None:
                return False
        elif type(part) is ResultPart:
            if role != _TOOL or part.is_error or not _is_plain_content(part.content):
                return False
        else:
            return False
    return bool(turn.parts)


def _is_plain_content(content: Sequence[ResultContent]) -> bool:
    for part in content:
        if type(part) is TextPart:
            if part.cache_mark is not None:
                return False
        elif type(part) is not JsonPart:
            return False
    return True


def _with_parts(turn: NativeTurn, parts: list[Part]) -> NativeTurn:
    """Return a turn of these parts: the same turn where they are its own, as they mostly are."""
    return turn if _are_same(parts, turn.parts) else turn._replace(parts=tuple(parts))


def _are_same(kept: Sequence[object], given: Sequence[object]) -> bool:
    return len(kept) == len(given) and all(map(is_, kept, given))


def _kind_of(part: Part) -> str:
    if isinstance(part, JsonPart):
        return "JSON"
    if isinstance(part, ImagePart):
        return "image"
    if isinstance(part, ThinkingPart):
        return "thinking"
    return "call" if isinstance(part, CallPart) else "result"
