-- +goose Up

-- Why the last push of edits failed; '' if it did not.
ALTER TABLE components ADD COLUMN push_problem TEXT NOT NULL DEFAULT '';
