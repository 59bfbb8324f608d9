-- Ids are 16-byte blobs, external keys the UTF-8 bytes of their text, times
-- nanoseconds since the epoch. Big tables are logs: a row goes to the end, and
-- what has to be found by another key has an index. Indexes are split into
-- those of living rows and those of ended rows, so that an append touches one
-- page of each of the former and none of the latter, and a read of the present
-- never walks over the past.

-- The branches: fixed facts, then the head.
CREATE TABLE branch (
    number           INTEGER PRIMARY KEY,
    tenant_id        TEXT    NOT NULL,
    branch_id        BLOB    NOT NULL,
    lineage_id       BLOB    NOT NULL,
    incarnation      BLOB    NOT NULL,
    created_at       INTEGER NOT NULL,
    external_key     BLOB,
    parent_branch_id BLOB,
    revision         INTEGER NOT NULL,
    message_count    INTEGER NOT NULL,
    last_key         INTEGER NOT NULL,
    system_id        BLOB,
    view_epoch       INTEGER,
    view_count       INTEGER NOT NULL,
    view_last_key    INTEGER NOT NULL,
    deleted          INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX branch_by_id ON branch (tenant_id, branch_id);

CREATE UNIQUE INDEX branch_by_external_key ON branch (tenant_id, external_key)
WHERE external_key IS NOT NULL AND deleted = 0;

CREATE INDEX branch_by_age ON branch (tenant_id, created_at, branch_id)
WHERE deleted = 0;

CREATE INDEX branch_by_parent ON branch (tenant_id, parent_branch_id, created_at, branch_id)
WHERE parent_branch_id IS NOT NULL AND deleted = 0;

CREATE INDEX branch_by_parent_and_key ON branch (tenant_id, parent_branch_id, external_key)
WHERE parent_branch_id IS NOT NULL AND external_key IS NOT NULL AND deleted = 0;

-- Branch metadata, a row per revision that wrote it.
CREATE TABLE branch_metadata (
    tenant_id     TEXT    NOT NULL,
    lineage_id    BLOB    NOT NULL,
    branch_id     BLOB    NOT NULL,
    revision      INTEGER NOT NULL,
    metadata_json TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX branch_metadata_by_revision
ON branch_metadata (tenant_id, lineage_id, branch_id, revision);

-- Encoded messages, each version once.
CREATE TABLE message_body (
    number     INTEGER PRIMARY KEY,
    tenant_id  TEXT NOT NULL,
    lineage_id BLOB NOT NULL,
    bytes      BLOB NOT NULL
) STRICT;

-- Membership: a row per version of a message in a branch, alive from
-- added_revision up to, not including, removed_revision.
CREATE TABLE member (
    tenant_id        TEXT    NOT NULL,
    lineage_id       BLOB    NOT NULL,
    branch_id        BLOB    NOT NULL,
    message_id       BLOB    NOT NULL,
    order_key        INTEGER NOT NULL,
    kind             INTEGER NOT NULL,
    added_revision   INTEGER NOT NULL,
    removed_revision INTEGER,
    body             INTEGER NOT NULL,
    link_id          BLOB,
    interim          INTEGER NOT NULL
) STRICT;

CREATE INDEX member_by_order
ON member (tenant_id, lineage_id, branch_id, order_key, added_revision, removed_revision, body)
WHERE removed_revision IS NULL;

CREATE INDEX member_by_kind
ON member (tenant_id, lineage_id, branch_id, kind, order_key, added_revision, removed_revision, body)
WHERE removed_revision IS NULL;

CREATE UNIQUE INDEX member_by_message
ON member (tenant_id, lineage_id, branch_id, message_id)
WHERE removed_revision IS NULL;

CREATE INDEX member_by_link
ON member (tenant_id, lineage_id, branch_id, link_id)
WHERE removed_revision IS NULL AND link_id IS NOT NULL;

CREATE INDEX ended_member_by_order
ON member (tenant_id, lineage_id, branch_id, order_key, added_revision, removed_revision, kind, body)
WHERE removed_revision IS NOT NULL;

CREATE INDEX ended_member_by_message
ON member (tenant_id, lineage_id, branch_id, message_id, removed_revision)
WHERE removed_revision IS NOT NULL;

-- Selected views: selected by the revision `epoch`, until ended_revision.
CREATE TABLE view (
    tenant_id      TEXT    NOT NULL,
    lineage_id     BLOB    NOT NULL,
    branch_id      BLOB    NOT NULL,
    epoch          INTEGER NOT NULL,
    ended_revision INTEGER
) STRICT;

CREATE UNIQUE INDEX view_by_epoch ON view (tenant_id, lineage_id, branch_id, epoch);

-- Rows of views: the shape of membership, without content.
CREATE TABLE view_row (
    tenant_id        TEXT    NOT NULL,
    lineage_id       BLOB    NOT NULL,
    branch_id        BLOB    NOT NULL,
    epoch            INTEGER NOT NULL,
    message_id       BLOB    NOT NULL,
    order_key        INTEGER NOT NULL,
    added_revision   INTEGER NOT NULL,
    removed_revision INTEGER
) STRICT;

CREATE INDEX view_row_by_order
ON view_row (tenant_id, lineage_id, branch_id, epoch, order_key, added_revision, removed_revision, message_id)
WHERE removed_revision IS NULL;

CREATE UNIQUE INDEX view_row_by_message
ON view_row (tenant_id, lineage_id, branch_id, epoch, message_id)
WHERE removed_revision IS NULL;

CREATE INDEX ended_view_row_by_order
ON view_row (tenant_id, lineage_id, branch_id, epoch, order_key, added_revision, removed_revision, message_id)
WHERE removed_revision IS NOT NULL;

CREATE INDEX ended_view_row_by_message
ON view_row (tenant_id, lineage_id, branch_id, epoch, message_id, removed_revision)
WHERE removed_revision IS NOT NULL;

-- One row per start of a writer: its name in commit positions.
CREATE TABLE writer (
    number     INTEGER PRIMARY KEY,
    writer_id  BLOB    NOT NULL,
    started_at INTEGER NOT NULL
) STRICT;

-- The change log: typed records. (writer, counter) is the commit position.
CREATE TABLE change (
    tenant_id  TEXT    NOT NULL,
    lineage_id BLOB    NOT NULL,
    branch_id  BLOB    NOT NULL,
    revision   INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    ignorable  INTEGER NOT NULL,
    payload    BLOB    NOT NULL,
    writer     INTEGER NOT NULL,
    counter    INTEGER NOT NULL
) STRICT;

CREATE INDEX change_by_revision ON change (tenant_id, lineage_id, branch_id, revision);

-- What request ids were used for.
CREATE TABLE recorded_response (
    tenant_id    TEXT    NOT NULL,
    request_id   BLOB    NOT NULL,
    request_hash BLOB    NOT NULL,
    response     BLOB    NOT NULL,
    recorded_at  INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX recorded_response_by_request ON recorded_response (tenant_id, request_id);

CREATE INDEX recorded_response_by_age ON recorded_response (recorded_at);
