-- +goose Up

-- Since when the file of a pending edit lacks its string, in microseconds; 0 if it does not.
ALTER TABLE edits ADD COLUMN away_at BIGINT NOT NULL DEFAULT 0;
