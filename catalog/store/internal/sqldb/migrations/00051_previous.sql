-- +goose Up
-- The source that a text which needs editing was made for, of a string that its file lacks;
-- '' if it was made for the string itself.
ALTER TABLE edits ADD COLUMN previous TEXT NOT NULL DEFAULT '';
