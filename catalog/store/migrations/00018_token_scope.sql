-- +goose Up

-- The slugs of the projects that a token is for, and the codes of the languages that it
-- may edit: in ascending order, a space between two; empty: all.
ALTER TABLE tokens ADD COLUMN projects TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN languages TEXT NOT NULL DEFAULT '';
ALTER TABLE token_events ADD COLUMN projects TEXT NOT NULL DEFAULT '';
ALTER TABLE token_events ADD COLUMN languages TEXT NOT NULL DEFAULT '';
