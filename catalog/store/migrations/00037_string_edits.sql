-- +goose Up

-- Strings that clients add to files, beside the files that they add or remove: source is ''
-- for those. A string of a path has at most one row that is pending.
ALTER TABLE file_edits ADD COLUMN id_hash BIGINT NOT NULL DEFAULT 0;
ALTER TABLE file_edits ADD COLUMN id_key BIGINT NOT NULL DEFAULT 0;
ALTER TABLE file_edits ADD COLUMN context TEXT NOT NULL DEFAULT '';
ALTER TABLE file_edits ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE file_edits ADD COLUMN target TEXT NOT NULL DEFAULT '';
ALTER TABLE file_edits ADD COLUMN state SMALLINT NOT NULL DEFAULT 0;
DROP INDEX file_edits_pending;
CREATE UNIQUE INDEX file_edits_pending ON file_edits (component_id, path, id_hash, id_key) WHERE status = 'pending';
