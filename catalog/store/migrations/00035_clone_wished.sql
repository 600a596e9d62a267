-- +goose Up

-- Since when a new clone of a mirror is wished that was not tried yet (PostgreSQL).
ALTER TABLE mirrors ADD COLUMN clone_wished BIGINT;
