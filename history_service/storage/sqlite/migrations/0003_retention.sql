-- Forks, trimmed revisions and purged branches. Nothing here is touched by an
-- append: the new indexes hold ended rows only, and body_share is written by
-- forks.

ALTER TABLE branch ADD COLUMN forked_from BLOB;
ALTER TABLE branch ADD COLUMN forked_revision INTEGER;
ALTER TABLE branch ADD COLUMN forked_up_to BLOB;
ALTER TABLE branch ADD COLUMN oldest_revision INTEGER NOT NULL DEFAULT 1;

-- From when on there is something to erase: a trimmed branch's past, or all of
-- a deleted branch. NULL: nothing.
ALTER TABLE branch ADD COLUMN sweep_after INTEGER;

CREATE INDEX branch_to_sweep ON branch (sweep_after) WHERE sweep_after IS NOT NULL;

-- Which branches use a body beside the one that owns it. A body has one owner,
-- which has no row here: the branch that stored it, or one that took it over
-- when the owner let go of it. A body nobody takes over is erased.
CREATE TABLE body_share (
    tenant_id  TEXT    NOT NULL,
    lineage_id BLOB    NOT NULL,
    body       INTEGER NOT NULL,
    branch_id  BLOB    NOT NULL,
    PRIMARY KEY (tenant_id, lineage_id, body, branch_id)
) STRICT, WITHOUT ROWID;

-- What a trim drops is found by when it ended.
CREATE INDEX ended_member_by_age
ON member (tenant_id, lineage_id, branch_id, removed_revision)
WHERE removed_revision IS NOT NULL;

CREATE INDEX ended_view_row_by_age
ON view_row (tenant_id, lineage_id, branch_id, removed_revision)
WHERE removed_revision IS NOT NULL;

CREATE INDEX ended_view_by_age
ON view (tenant_id, lineage_id, branch_id, ended_revision)
WHERE ended_revision IS NOT NULL;

-- Branches deleted before this release are kept for thirty days from now.
UPDATE branch SET sweep_after = (unixepoch() + 2592000) * 1000000000 WHERE deleted = 1;
