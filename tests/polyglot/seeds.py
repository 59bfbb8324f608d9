"""Known faults for the services, each a change of meaning that the scenarios must notice.

A service with one of them starts, answers, and keeps to its protos: no generated
stub and no compiler of any language can tell.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from antiphon.history.v1 import exchange_service_pb2 as exchange_pb

SetAttribute: TypeAlias = Callable[[object, str, object], None]
"""``setattr``, or a test's that is undone."""


@dataclass(frozen=True, slots=True)
class Seed:
    """One fault.

    Attributes:
        about: What the service does wrong.
        module: The module whose attribute is replaced.
        path: The attribute, dotted where it is one of a class.
        make: Makes the replacement of what is there.
        caught_by: Scenarios that must fail.
    """

    about: str
    module: str
    path: str
    make: Callable[[Any], Any]
    caught_by: Sequence[str]

    def apply(self, set_attribute: SetAttribute) -> None:
        """Plant the fault."""
        holder: Any = importlib.import_module(self.module)
        *outer, name = self.path.split(".")
        for part in outer:
            holder = getattr(holder, part)
        set_attribute(holder, name, self.make(getattr(holder, name)))


def _after(change: Callable[[Any], None]) -> Callable[[Any], Any]:
    """Make a function that changes its first argument too, after what it does."""

    def make(function: Any) -> Any:
        def changed(subject: Any, *rest: Any) -> Any:
            made = function(subject, *rest)
            change(subject)
            return made

        return changed

    return make


def _with_last(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make a function whose last argument is changed before."""

    def make(function: Any) -> Any:
        return lambda *arguments: function(*arguments[:-1], change(arguments[-1]))

    return make


def _replaced(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def _returning(value: Any) -> Callable[[Any], Any]:
    return lambda _: lambda *_arguments, **_named: value


def _trim(message: Any) -> None:
    if message.HasField("instruction") and message.instruction.HasField("instruction"):
        message.instruction.instruction = message.instruction.instruction.strip()


def _encode_json_anew(message: Any) -> None:
    if message.HasField("generic") and message.generic.value_json:
        message.generic.value_json = json.dumps(json.loads(message.generic.value_json))


def _everybody(recipients: Any) -> Any:
    def changed(ledger: Any, entry: Any) -> Any:
        found = recipients(ledger, entry)
        return [*ledger.all_registered()] if len(found) > 1 else found

    return changed


SEEDS = {
    "trims_text": Seed(
        "The history service trims an instruction's text.",
        "history_service.domain.prepared", "canonicalize_message", _after(_trim), ("text_sacred",),
    ),
    "encodes_json_anew": Seed(
        "The history service parses JSON text and writes it again.",
        "history_service.domain.prepared", "canonicalize_message", _after(_encode_json_anew),
        ("json_text_verbatim", "json_text_refused"),
    ),
    "ignores_expected_revision": Seed(
        "The history service does not look at expected_revision.",
        "history_service.domain.writes", "check_expected", _returning(None),
        ("branch_expected_revision", "branch_deleted"),
    ),
    "forgets_requests": Seed(
        "The history service writes again what is sent again.",
        "history_service.domain.writes", "_record", _returning(None),
        ("requests_replayed", "request_id_reused", "exchange_replayed", "import_chunks"),
    ),
    "turns_views": Seed(
        "The history service orders a view from its end.",
        "history_service.domain.views", "begin_view", _with_last(lambda ids: ids[::-1]),
        ("view_selected", "compile_selection", "past_revisions"),
    ),
    "skips_unknown_fields": Seed(
        "The services take requests with fields that they do not know.",
        "antiphon_client.edge.methods", "unknown_field_error", _returning(None),
        ("wire_unknown_field", "wire_unknown_fields_within"),
    ),
    "tells_no_facts": Seed(
        "Errors come without their metadata.",
        "antiphon_client.status", "_bounded_metadata", _returning({}),
        ("branch_exists", "sizes_limited", "compile_refused"),
    ),
    "changes_a_code": Seed(
        "A dropped revision is NOT_FOUND.",
        "antiphon_client.errors", "RevisionExpiredError.code", _replaced("NOT_FOUND"),
        ("history_trimmed", "watch_resumed", "page_token_of_a_trimmed_revision"),
    ),
    "changes_the_digest": Seed(
        "The compiler hashes another canonical form.",
        "compiler_service.digest", "_DOMAIN", _replaced(b"antiphon.compiled.v2\0"),
        ("compile_native_openai", "compile_folded", "compile_streamed", "text_sacred"),
    ),
    "hashes_nothing": Seed(
        "A snapshot's footer has the hash of no bytes.",
        "history_service.encoding", "snapshot_footer",
        lambda footer: lambda count, _: footer(count, bytes(32)),
        ("snapshot_over_4_mib", "snapshot_stored_bytes", "view_selected"),
    ),
    "broadcasts_to_the_sender": Seed(
        "A broadcast comes back to its sender.",
        "history_service.domain.exchange_delivery", "_recipients", _everybody, ("exchange_broadcast",),
    ),
    "mistakes_dead_letters": Seed(
        "A message without a recipient is buried as one for a role.",
        "history_service.domain.exchange_delivery", "UNDELIVERABLE",
        lambda reasons: dict.fromkeys(reasons, exchange_pb.DEAD_LETTER_REASON_RECIPIENT_ROLE),
        ("exchange_dead_letters",),
    ),
}  # fmt: skip
"""The faults by name."""
