-- +goose Up
-- Whether files would lose more than half of their strings by a template, which waits therefore.
ALTER TABLE edits ADD COLUMN lossy SMALLINT NOT NULL DEFAULT 0;
UPDATE edits SET lossy = 1 WHERE kind = 'template' AND status = 'pending' AND reason LIKE '% of % strings of the files: %';
