-- Text that callers write is kept as its UTF-8 bytes, since PostgreSQL's text
-- refuses the character NUL and sorts as a collation says. Ids are their 16
-- bytes, times nanoseconds since the epoch. Every key of a directory table
-- leads with tenant_id and every key of a data table with tenant_id and
-- lineage_id or exchange_id: the columns to distribute by. Indexes are split
-- into those of living rows and those of ended rows, so that an append touches
-- none of the latter and a read of the present never walks over the past.
-- Conditions that always hold, such as order_key >= 0, keep an index for the
-- statements that name them: a planner without statistics takes any index that
-- begins with the right columns, and walks over a branch to find one message.

-- One row per start of a writer: its name in commit positions, and the range of
-- body numbers that is its own.
CREATE TABLE writer (
    number     BIGINT NOT NULL PRIMARY KEY,
    writer_id  BYTEA  NOT NULL,
    started_at BIGINT NOT NULL
);

-- The branches: fixed facts, then the head, which is rewritten in place: no
-- index holds any of it, and pages keep room for it.
CREATE TABLE branch (
    tenant_id        BYTEA   NOT NULL,
    branch_id        BYTEA   NOT NULL,
    lineage_id       BYTEA   NOT NULL,
    incarnation      BYTEA   NOT NULL,
    created_at       BIGINT  NOT NULL,
    external_key     BYTEA,
    parent_branch_id BYTEA,
    forked_from      BYTEA,
    forked_revision  BIGINT,
    forked_up_to     BYTEA,
    revision         BIGINT  NOT NULL,
    message_count    BIGINT  NOT NULL,
    last_key         BIGINT  NOT NULL,
    system_id        BYTEA,
    view_epoch       BIGINT,
    view_count       BIGINT  NOT NULL,
    view_last_key    BIGINT  NOT NULL,
    deleted          BOOLEAN NOT NULL,
    oldest_revision  BIGINT  NOT NULL,
    -- From when on there is something to erase: a trimmed branch's past, or all
    -- of a deleted branch. NULL: nothing.
    sweep_after      BIGINT,
    PRIMARY KEY (tenant_id, branch_id)
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX branch_by_external_key ON branch (tenant_id, external_key)
WHERE external_key IS NOT NULL AND NOT deleted;

CREATE INDEX branch_by_age ON branch (tenant_id, created_at, branch_id)
WHERE NOT deleted AND created_at >= 0;

CREATE INDEX branch_by_parent ON branch (tenant_id, parent_branch_id, created_at, branch_id)
WHERE parent_branch_id IS NOT NULL AND NOT deleted;

CREATE INDEX branch_by_parent_and_key ON branch (tenant_id, parent_branch_id, external_key)
WHERE parent_branch_id IS NOT NULL AND external_key IS NOT NULL AND NOT deleted;

CREATE INDEX branch_to_sweep ON branch (sweep_after) WHERE sweep_after IS NOT NULL;

-- What request ids were used for.
CREATE TABLE recorded_response (
    tenant_id    BYTEA  NOT NULL,
    request_id   BYTEA  NOT NULL,
    request_hash BYTEA  NOT NULL,
    response     BYTEA  NOT NULL,
    recorded_at  BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, request_id)
);

CREATE INDEX recorded_response_by_age ON recorded_response (recorded_at);

-- Branch metadata, a row per revision that wrote it.
CREATE TABLE branch_metadata (
    tenant_id     BYTEA  NOT NULL,
    lineage_id    BYTEA  NOT NULL,
    branch_id     BYTEA  NOT NULL,
    revision      BIGINT NOT NULL,
    metadata_json BYTEA  NOT NULL,
    PRIMARY KEY (tenant_id, lineage_id, branch_id, revision)
);

-- Encoded messages, each version once.
CREATE TABLE message_body (
    tenant_id  BYTEA  NOT NULL,
    lineage_id BYTEA  NOT NULL,
    number     BIGINT NOT NULL,
    bytes      BYTEA  NOT NULL,
    PRIMARY KEY (tenant_id, lineage_id, number)
);

-- Which branches use a body beside the one that owns it. A body has one owner,
-- which has no row here: the branch that stored it, or one that took it over
-- when the owner let go of it. A body nobody takes over is erased.
CREATE TABLE body_share (
    tenant_id  BYTEA  NOT NULL,
    lineage_id BYTEA  NOT NULL,
    body       BIGINT NOT NULL,
    branch_id  BYTEA  NOT NULL,
    PRIMARY KEY (tenant_id, lineage_id, body, branch_id)
);

-- Membership: a row per version of a message in a branch, alive from
-- added_revision up to, not including, removed_revision. Versions of a message
-- follow one another: which one lived at a revision is the last one added by
-- then, if it was not removed by then.
CREATE TABLE member (
    tenant_id        BYTEA    NOT NULL,
    lineage_id       BYTEA    NOT NULL,
    branch_id        BYTEA    NOT NULL,
    message_id       BYTEA    NOT NULL,
    added_revision   BIGINT   NOT NULL,
    removed_revision BIGINT,
    order_key        BIGINT   NOT NULL,
    kind             SMALLINT NOT NULL,
    interim          BOOLEAN  NOT NULL,
    body             BIGINT   NOT NULL,
    link_id          BYTEA,
    PRIMARY KEY (tenant_id, lineage_id, branch_id, message_id, added_revision)
);

CREATE INDEX member_by_order ON member (tenant_id, lineage_id, branch_id, order_key)
WHERE removed_revision IS NULL AND order_key >= 0;

CREATE INDEX member_by_kind ON member (tenant_id, lineage_id, branch_id, kind, order_key)
WHERE removed_revision IS NULL AND kind >= 0;

CREATE INDEX member_by_link ON member (tenant_id, lineage_id, branch_id, link_id)
WHERE removed_revision IS NULL AND link_id IS NOT NULL;

CREATE INDEX ended_member_by_order ON member (tenant_id, lineage_id, branch_id, order_key)
WHERE removed_revision IS NOT NULL AND order_key >= 0;

CREATE INDEX ended_member_by_age ON member (tenant_id, lineage_id, branch_id, removed_revision)
WHERE removed_revision IS NOT NULL AND removed_revision >= 0;

-- Selected views: selected by the revision `epoch`, until ended_revision.
CREATE TABLE selected_view (
    tenant_id      BYTEA  NOT NULL,
    lineage_id     BYTEA  NOT NULL,
    branch_id      BYTEA  NOT NULL,
    epoch          BIGINT NOT NULL,
    ended_revision BIGINT,
    PRIMARY KEY (tenant_id, lineage_id, branch_id, epoch)
);

CREATE INDEX ended_view_by_age ON selected_view (tenant_id, lineage_id, branch_id, ended_revision)
WHERE ended_revision IS NOT NULL;

-- Rows of views: the shape of membership, without content.
CREATE TABLE view_row (
    tenant_id        BYTEA  NOT NULL,
    lineage_id       BYTEA  NOT NULL,
    branch_id        BYTEA  NOT NULL,
    epoch            BIGINT NOT NULL,
    message_id       BYTEA  NOT NULL,
    added_revision   BIGINT NOT NULL,
    removed_revision BIGINT,
    order_key        BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, lineage_id, branch_id, epoch, message_id, added_revision)
);

CREATE INDEX view_row_by_order ON view_row (tenant_id, lineage_id, branch_id, epoch, order_key)
WHERE removed_revision IS NULL AND order_key >= 0;

CREATE INDEX ended_view_row_by_order ON view_row (tenant_id, lineage_id, branch_id, epoch, order_key)
WHERE removed_revision IS NOT NULL AND order_key >= 0;

CREATE INDEX ended_view_row_by_age ON view_row (tenant_id, lineage_id, branch_id, removed_revision)
WHERE removed_revision IS NOT NULL AND removed_revision >= 0;

-- The change log: typed records. (writer_id, counter) is the commit position.
CREATE TABLE change (
    tenant_id  BYTEA    NOT NULL,
    lineage_id BYTEA    NOT NULL,
    branch_id  BYTEA    NOT NULL,
    revision   BIGINT   NOT NULL,
    kind       SMALLINT NOT NULL,
    ignorable  BOOLEAN  NOT NULL,
    payload    BYTEA    NOT NULL,
    writer_id  BYTEA    NOT NULL,
    counter    BIGINT   NOT NULL,
    PRIMARY KEY (tenant_id, lineage_id, branch_id, revision)
);

-- The exchange. A queued message is a row that moves from outbox to inbox to
-- dead letters and refers to its body, which is written once. What is under a
-- lease has indexes of its own, so that nobody walks over it to find the next
-- free message.

CREATE TABLE exchange (
    tenant_id        BYTEA   NOT NULL,
    exchange_id      BYTEA   NOT NULL,
    at_send          BOOLEAN NOT NULL,
    max_deliveries   BIGINT  NOT NULL,
    max_owners       BIGINT  NOT NULL,
    max_messages     BIGINT  NOT NULL,
    max_bytes        BIGINT  NOT NULL,
    owner_count      BIGINT  NOT NULL,
    message_count    BIGINT  NOT NULL,
    byte_count       BIGINT  NOT NULL,
    last_rank        BIGINT  NOT NULL,
    last_dead_letter BIGINT  NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id)
) WITH (fillfactor = 50);

-- Owners; rank is null while one is not registered.
CREATE TABLE exchange_owner (
    tenant_id     BYTEA  NOT NULL,
    exchange_id   BYTEA  NOT NULL,
    owner_id      BYTEA  NOT NULL,
    rank          BIGINT,
    registered_at BIGINT NOT NULL,
    inbox_count   BIGINT NOT NULL,
    outbox_count  BIGINT NOT NULL,
    last_sequence BIGINT NOT NULL,
    last_position BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id, owner_id)
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX exchange_owner_by_rank ON exchange_owner (tenant_id, exchange_id, rank)
WHERE rank IS NOT NULL;

CREATE INDEX exchange_owner_with_mail ON exchange_owner (tenant_id, exchange_id, rank)
WHERE rank IS NOT NULL AND outbox_count > 0;

-- Encoded messages, each once.
CREATE TABLE exchange_body (
    tenant_id   BYTEA  NOT NULL,
    exchange_id BYTEA  NOT NULL,
    number      BIGINT NOT NULL,
    bytes       BYTEA  NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id, number)
);

-- How many inboxes and dead letters hold a body that was broadcast.
CREATE TABLE exchange_shared_body (
    tenant_id   BYTEA  NOT NULL,
    exchange_id BYTEA  NOT NULL,
    number      BIGINT NOT NULL,
    holders     BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id, number)
);

CREATE TABLE exchange_outbox (
    tenant_id    BYTEA    NOT NULL,
    exchange_id  BYTEA    NOT NULL,
    owner_id     BYTEA    NOT NULL,
    position     BIGINT   NOT NULL,
    message_id   BYTEA    NOT NULL,
    route        SMALLINT NOT NULL,
    recipient_id BYTEA,
    body         BIGINT   NOT NULL,
    size         BIGINT   NOT NULL,
    shared       BOOLEAN  NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id, owner_id, position)
);

CREATE TABLE exchange_inbox (
    tenant_id      BYTEA   NOT NULL,
    exchange_id    BYTEA   NOT NULL,
    owner_id       BYTEA   NOT NULL,
    sequence       BIGINT  NOT NULL,
    sender_id      BYTEA   NOT NULL,
    body           BIGINT  NOT NULL,
    size           BIGINT  NOT NULL,
    shared         BOOLEAN NOT NULL,
    delivered_at   BIGINT  NOT NULL,
    delivery_count BIGINT  NOT NULL,
    lease_id       BYTEA,
    expires_at     BIGINT  NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id, owner_id, sequence)
);

CREATE INDEX exchange_inbox_by_sender
ON exchange_inbox (tenant_id, exchange_id, owner_id, sender_id, sequence);

CREATE INDEX exchange_inbox_free
ON exchange_inbox (tenant_id, exchange_id, owner_id, sequence)
WHERE lease_id IS NULL;

CREATE INDEX exchange_inbox_free_by_sender
ON exchange_inbox (tenant_id, exchange_id, owner_id, sender_id, sequence)
WHERE lease_id IS NULL;

CREATE UNIQUE INDEX exchange_inbox_by_lease
ON exchange_inbox (tenant_id, exchange_id, owner_id, lease_id)
WHERE lease_id IS NOT NULL;

CREATE INDEX exchange_inbox_by_expiry
ON exchange_inbox (tenant_id, exchange_id, owner_id, expires_at, sequence)
WHERE lease_id IS NOT NULL AND expires_at >= 0;

CREATE TABLE exchange_dead_letter (
    tenant_id      BYTEA    NOT NULL,
    exchange_id    BYTEA    NOT NULL,
    position       BIGINT   NOT NULL,
    dead_letter_id BYTEA    NOT NULL,
    reason         SMALLINT NOT NULL,
    owner_id       BYTEA,
    delivery_count BIGINT   NOT NULL,
    dead_at        BIGINT   NOT NULL,
    sender_id      BYTEA    NOT NULL,
    body           BIGINT   NOT NULL,
    size           BIGINT   NOT NULL,
    shared         BOOLEAN  NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id, position)
);

CREATE UNIQUE INDEX exchange_dead_letter_by_id
ON exchange_dead_letter (tenant_id, exchange_id, dead_letter_id);

CREATE INDEX exchange_dead_letter_by_owner
ON exchange_dead_letter (tenant_id, exchange_id, owner_id, position)
WHERE owner_id IS NOT NULL;
