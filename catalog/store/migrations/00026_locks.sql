-- +goose Up

-- Whether edits of a component are refused for now.
ALTER TABLE components ADD COLUMN locked SMALLINT NOT NULL DEFAULT 0;
