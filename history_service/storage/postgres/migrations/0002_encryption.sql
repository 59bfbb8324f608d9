-- Encryption at rest (history_service.storage.envelope says what the keys are).
-- Nothing here is filled while it is off, and what was written before stays as
-- it is: a member without a wrapped key has a body in clear.

-- The master keys that the others are wrapped by.
CREATE TABLE master_key (
    id   BYTEA NOT NULL PRIMARY KEY,
    name BYTEA NOT NULL
);

-- The store's own key: the one row, number 0.
CREATE TABLE store_key (
    number  BIGINT NOT NULL PRIMARY KEY,
    wrapped BYTEA  NOT NULL
);

-- The branches' keys. Beside `branch`, whose rows are written anew with each
-- head: a key stands in one place until it is erased.
CREATE TABLE branch_key (
    tenant_id  BYTEA NOT NULL,
    lineage_id BYTEA NOT NULL,
    branch_id  BYTEA NOT NULL,
    wrapped    BYTEA NOT NULL,
    PRIMARY KEY (tenant_id, lineage_id, branch_id)
);

-- The key of the body, wrapped for this row's branch and message.
ALTER TABLE member ADD COLUMN wrapped_key BYTEA;
