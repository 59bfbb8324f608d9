-- Which store this one is a copy of; a row while it is being copied and from
-- then on. Until it is finished no service serves the database.
CREATE TABLE store_copy (
    source_id   BYTEA  NOT NULL PRIMARY KEY,
    -- The program that may write the copy: the one that was started last.
    copier      BYTEA  NOT NULL,
    started_at  BIGINT NOT NULL,
    finished_at BIGINT
);

CREATE INDEX unfinished_store_copy ON store_copy (source_id) WHERE finished_at IS NULL;
