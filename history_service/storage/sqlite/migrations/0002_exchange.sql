-- The exchange. Exchange ids are the UTF-8 bytes of their text, other ids
-- 16-byte blobs, times nanoseconds since the epoch. A queued message is a row
-- that moves from outbox to inbox to dead letters and refers to its body, which
-- is written once. Queues are clustered by their key: a step touches the pages
-- of one queue's ends. What is under a lease has indexes of its own, so that
-- nobody walks over it to find the next free message.

CREATE TABLE exchange (
    tenant_id        TEXT    NOT NULL,
    exchange_id      BLOB    NOT NULL,
    at_send          INTEGER NOT NULL,
    max_deliveries   INTEGER NOT NULL,
    max_owners       INTEGER NOT NULL,
    max_messages     INTEGER NOT NULL,
    max_bytes        INTEGER NOT NULL,
    owner_count      INTEGER NOT NULL,
    message_count    INTEGER NOT NULL,
    byte_count       INTEGER NOT NULL,
    last_rank        INTEGER NOT NULL,
    last_dead_letter INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id)
) STRICT, WITHOUT ROWID;

-- Owners; rank is null while one is not registered.
CREATE TABLE exchange_owner (
    tenant_id     TEXT    NOT NULL,
    exchange_id   BLOB    NOT NULL,
    owner_id      BLOB    NOT NULL,
    rank          INTEGER,
    registered_at INTEGER NOT NULL,
    inbox_count   INTEGER NOT NULL,
    outbox_count  INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    last_position INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id, owner_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX exchange_owner_by_rank ON exchange_owner (tenant_id, exchange_id, rank)
WHERE rank IS NOT NULL;

CREATE INDEX exchange_owner_with_mail ON exchange_owner (tenant_id, exchange_id, rank)
WHERE rank IS NOT NULL AND outbox_count > 0;

-- Encoded messages, each once.
CREATE TABLE exchange_body (
    number      INTEGER PRIMARY KEY,
    tenant_id   TEXT NOT NULL,
    exchange_id BLOB NOT NULL,
    bytes       BLOB NOT NULL
) STRICT;

-- How many inboxes and dead letters hold a body that was broadcast.
CREATE TABLE exchange_shared_body (
    number      INTEGER PRIMARY KEY,
    tenant_id   TEXT    NOT NULL,
    exchange_id BLOB    NOT NULL,
    holders     INTEGER NOT NULL
) STRICT;

CREATE TABLE exchange_outbox (
    tenant_id    TEXT    NOT NULL,
    exchange_id  BLOB    NOT NULL,
    owner_id     BLOB    NOT NULL,
    position     INTEGER NOT NULL,
    message_id   BLOB    NOT NULL,
    route        INTEGER NOT NULL,
    recipient_id BLOB,
    body         INTEGER NOT NULL,
    size         INTEGER NOT NULL,
    shared       INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id, owner_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE exchange_inbox (
    tenant_id      TEXT    NOT NULL,
    exchange_id    BLOB    NOT NULL,
    owner_id       BLOB    NOT NULL,
    sequence       INTEGER NOT NULL,
    sender_id      BLOB    NOT NULL,
    body           INTEGER NOT NULL,
    size           INTEGER NOT NULL,
    shared         INTEGER NOT NULL,
    delivered_at   INTEGER NOT NULL,
    delivery_count INTEGER NOT NULL,
    lease_id       BLOB,
    expires_at     INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id, owner_id, sequence)
) STRICT, WITHOUT ROWID;

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
WHERE lease_id IS NOT NULL;

CREATE TABLE exchange_dead_letter (
    tenant_id      TEXT    NOT NULL,
    exchange_id    BLOB    NOT NULL,
    position       INTEGER NOT NULL,
    dead_letter_id BLOB    NOT NULL,
    reason         INTEGER NOT NULL,
    owner_id       BLOB,
    delivery_count INTEGER NOT NULL,
    dead_at        INTEGER NOT NULL,
    sender_id      BLOB    NOT NULL,
    body           INTEGER NOT NULL,
    size           INTEGER NOT NULL,
    shared         INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, exchange_id, position)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX exchange_dead_letter_by_id
ON exchange_dead_letter (tenant_id, exchange_id, dead_letter_id);

CREATE INDEX exchange_dead_letter_by_owner
ON exchange_dead_letter (tenant_id, exchange_id, owner_id, position)
WHERE owner_id IS NOT NULL;
