-- +goose Up

-- Whether a client asked to commit just the text of an edit, which clones then have.
ALTER TABLE edits ADD COLUMN committed SMALLINT NOT NULL DEFAULT 0;
