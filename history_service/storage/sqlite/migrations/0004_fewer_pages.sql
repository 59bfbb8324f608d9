-- An append touches one page of every index by branch, whichever branch was
-- written before it, and those pages are most of what it writes. Two such
-- indexes give way to what is written at one end.

-- Ids lead, as they do for request ids: those made by the service and its
-- clients grow with time, so that the appends to all branches share a page.
DROP INDEX member_by_message;

CREATE UNIQUE INDEX member_by_message
ON member (tenant_id, message_id, lineage_id, branch_id)
WHERE removed_revision IS NULL;

-- A change record names the one before it in its branch, and the branch its
-- last. Every 32nd has an index entry, from which the others are found.
ALTER TABLE branch ADD COLUMN last_change INTEGER;

UPDATE branch SET last_change = (
    SELECT c.rowid FROM change c INDEXED BY change_by_revision
    WHERE c.tenant_id = branch.tenant_id AND c.lineage_id = branch.lineage_id AND c.branch_id = branch.branch_id
    ORDER BY c.revision DESC, c.rowid DESC LIMIT 1
);

CREATE TABLE chained_change (
    tenant_id  TEXT    NOT NULL,
    lineage_id BLOB    NOT NULL,
    branch_id  BLOB    NOT NULL,
    revision   INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    ignorable  INTEGER NOT NULL,
    payload    BLOB    NOT NULL,
    writer     INTEGER NOT NULL,
    counter    INTEGER NOT NULL,
    number     INTEGER PRIMARY KEY,
    previous   INTEGER
) STRICT;

INSERT INTO chained_change
SELECT
    tenant_id, lineage_id, branch_id, revision, kind, ignorable, payload, writer, counter, rowid,
    lag(rowid) OVER (PARTITION BY tenant_id, lineage_id, branch_id ORDER BY revision, rowid)
FROM change;

DROP TABLE change;

ALTER TABLE chained_change RENAME TO change;

CREATE INDEX change_by_milestone ON change (tenant_id, lineage_id, branch_id, revision)
WHERE revision % 32 = 0;
