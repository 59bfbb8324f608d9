-- Encryption at rest (history_service.storage.envelope says what the keys are).
-- Nothing here is filled while it is off, and what was written before stays as
-- it is: a member without a wrapped key has a body in clear.

-- The store's own key is number 0, the others are branches'. Rows are added at
-- the end and never deleted, so that none ever moves to another page: a key is
-- erased by overwriting it where it stands.
CREATE TABLE encryption_key (
    number  INTEGER PRIMARY KEY,
    wrapped BLOB NOT NULL
) STRICT;

-- The master keys that the others are wrapped by.
CREATE TABLE master_key (
    id   BLOB PRIMARY KEY,
    name TEXT NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE branch ADD COLUMN key_number INTEGER;

-- The key of the body, wrapped for this row's branch and message.
ALTER TABLE member ADD COLUMN wrapped_key BLOB;
