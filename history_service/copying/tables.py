"""The tables that are copied, as both databases keep them.

A row is a tuple in one form on both sides: text as its UTF-8 bytes, truth as 0
or 1, key first. What may be long is compared by its SHA-256, which each side
makes of its own bytes.

Of a store that is encrypted at rest, what is encrypted is copied as it is, and
so are the keys, which stand there wrapped: no key of the operator's is needed.
What a ciphertext belongs to (its tenant, fork tree, branch, message, number) is
made of columns that are compared, so it opens in the copy as it does in the
source.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from history_service.storage.postgres.statements import BRANCH_KEY, EXCHANGE_KEY, rows_of

_TEXTS = ("tenant_id", "metadata_json", "name")
"""Columns that are text in SQLite and bytes in PostgreSQL."""


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        name: Its name in PostgreSQL.
        key: Columns of its primary key there, with types as in ``rows_of``.
        values: Its other columns, likewise.
        long: The column whose values may be long; none in most.
        source: What to select from in SQLite; empty for a table of the same name.
        condition: Which of those rows are the table's; empty for all.
        renamed: Columns that have another name or form in SQLite.
        looked_up: Whether SQLite sorts keys alone and then looks rows up, since
            it has no index for the order and rows are long.
        removed_first: Whether what is to go goes before anything is inserted,
            as a key beside the primary one may pass from row to row.
    """

    name: str
    key: str
    values: str = ""
    long: str = ""
    source: str = ""
    condition: str = ""
    renamed: tuple[tuple[str, str], ...] = ()
    looked_up: bool = False
    removed_first: bool = False

    @cached_property
    def columns(self) -> str:
        """All columns with their types, key first."""
        return f"{self.key}, {self.values}" if self.values else self.key

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names in PostgreSQL."""
        return rows_of(self.columns)[1]

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """The names of the key's columns."""
        return rows_of(self.key)[1]

    @cached_property
    def truths(self) -> tuple[int, ...]:
        """Places of the columns that are true or false."""
        return tuple(
            place for place, typed in enumerate(self.columns.split(", ")) if typed.endswith("boolean")
        )

    @cached_property
    def long_place(self) -> int | None:
        """Place of the long column."""
        return self.names.index(self.long) if self.long else None

    @cached_property
    def source_rows(self) -> str:
        """The statement that reads the table from SQLite, in the order of its key."""
        renamed = dict(self.renamed)
        columns = ", ".join(
            f"CAST({name} AS BLOB)" if name in _TEXTS else renamed.get(name, name) for name in self.names
        )
        source, order = self.source or self.name, ", ".join(self.key_names)
        if not self.looked_up:
            return f"SELECT {columns} FROM {source}{self._where} ORDER BY {order}"
        # The limit keeps SQLite from sorting whole rows; CROSS JOIN is its word for "in this order".
        table = source.partition(" ")[0]
        keys = f"SELECT rowid AS place FROM {table} ORDER BY {order} LIMIT -1"
        joined = f"({keys}) AS sorted CROSS JOIN {source}"
        return f"SELECT {columns} FROM {joined} WHERE {table}.rowid = sorted.place"

    @cached_property
    def source_count(self) -> str:
        """The statement that counts the table's rows in SQLite."""
        return f"SELECT count(*) FROM {(self.source or self.name).partition(' ')[0]}{self._where}"

    @property
    def _where(self) -> str:
        return f" WHERE {self.condition}" if self.condition else ""


_HEAD = (
    "lineage_id bytea, incarnation bytea, created_at bigint, external_key bytea, parent_branch_id bytea,"
    " forked_from bytea, forked_revision bigint, forked_up_to bytea, revision bigint, message_count bigint,"
    " last_key bigint, system_id bytea, view_epoch bigint, view_count bigint, view_last_key bigint,"
    " deleted boolean, oldest_revision bigint, sweep_after bigint"
)
_OWNER_KEY = f"{EXCHANGE_KEY}, owner_id bytea"
_LETTER = "sender_id bytea, body bigint, size bigint, shared boolean"

TABLES = (
    Table("writer", "number bigint", "writer_id bytea, started_at bigint"),
    Table("store_key", "number bigint", "wrapped bytea", source="encryption_key", condition="number = 0"),
    Table("master_key", "id bytea", "name bytea"),
    Table("branch", "tenant_id bytea, branch_id bytea", _HEAD, removed_first=True),
    Table(
        "branch_key",
        BRANCH_KEY,
        "wrapped bytea",
        # Where a key is not there the source refuses before.
        source="branch LEFT JOIN encryption_key ON encryption_key.number = branch.key_number",
        condition="key_number IS NOT NULL",
    ),
    Table(
        "recorded_response",
        "tenant_id bytea, request_id bytea",
        "request_hash bytea, response bytea, recorded_at bigint",
        long="response",
    ),
    Table("branch_metadata", f"{BRANCH_KEY}, revision bigint", "metadata_json bytea", long="metadata_json"),
    Table(
        "message_body",
        "tenant_id bytea, lineage_id bytea, number bigint",
        "bytes bytea",
        long="bytes",
        looked_up=True,
    ),
    Table("body_share", "tenant_id bytea, lineage_id bytea, body bigint, branch_id bytea"),
    Table(
        "member",
        f"{BRANCH_KEY}, message_id bytea, added_revision bigint",
        "removed_revision bigint, order_key bigint, kind smallint, interim boolean, body bigint,"
        " link_id bytea, wrapped_key bytea",
    ),
    Table("selected_view", f"{BRANCH_KEY}, epoch bigint", "ended_revision bigint", source="view"),
    Table(
        "view_row",
        f"{BRANCH_KEY}, epoch bigint, message_id bytea, added_revision bigint",
        "removed_revision bigint, order_key bigint",
    ),
    Table(
        "change",
        f"{BRANCH_KEY}, revision bigint",
        "kind smallint, ignorable boolean, payload bytea, writer_id bytea, counter bigint",
        long="payload",
        # A writer that is not there gives NULL, which the destination refuses.
        source="change LEFT JOIN writer ON writer.number = change.writer",
        looked_up=True,
    ),
    Table(
        "exchange",
        EXCHANGE_KEY,
        "at_send boolean, max_deliveries bigint, max_owners bigint, max_messages bigint, max_bytes bigint,"
        " owner_count bigint, message_count bigint, byte_count bigint, last_rank bigint,"
        " last_dead_letter bigint",
    ),
    Table(
        "exchange_owner",
        _OWNER_KEY,
        "rank bigint, registered_at bigint, inbox_count bigint, outbox_count bigint, last_sequence bigint,"
        " last_position bigint",
        removed_first=True,
    ),
    Table("exchange_body", f"{EXCHANGE_KEY}, number bigint", "bytes bytea", long="bytes", looked_up=True),
    Table("exchange_shared_body", f"{EXCHANGE_KEY}, number bigint", "holders bigint"),
    Table(
        "exchange_outbox",
        f"{_OWNER_KEY}, position bigint",
        "message_id bytea, route smallint, recipient_id bytea, body bigint, size bigint, shared boolean",
    ),
    Table(
        "exchange_inbox",
        f"{_OWNER_KEY}, sequence bigint",
        f"{_LETTER}, delivered_at bigint, delivery_count bigint, lease_id bytea, expires_at bigint",
        removed_first=True,
    ),
    Table(
        "exchange_dead_letter",
        f"{EXCHANGE_KEY}, position bigint",
        "dead_letter_id bytea, reason smallint, owner_id bytea, delivery_count bigint, dead_at bigint,"
        f" {_LETTER}",
        removed_first=True,
    ),
)
"""All that a store consists of, in the order in which it is copied."""

UNCOPIED_TABLES = frozenset({"schema_version", "antiphon_schema_version", "store_copy"})
"""Tables that each database has for itself."""

UNCOPIED_COLUMNS = frozenset(
    {
        ("branch", "number"),
        ("branch", "last_change"),
        ("branch", "key_number"),
        ("change", "number"),
        ("change", "previous"),
    }
)
"""How SQLite numbers and chains rows; PostgreSQL finds them by their keys."""
