-- +goose Up

-- Since when a push of a branch is wished that was not tried yet (PostgreSQL).
ALTER TABLE mirrors ADD COLUMN push_wished BIGINT;
