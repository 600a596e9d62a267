-- +goose Up

-- The server that the database was on when the history of the clock began: its
-- identifier and its timeline (PostgreSQL; in SQLite it is empty).
CREATE TABLE servers (
  one      SMALLINT PRIMARY KEY,
  identity TEXT NOT NULL
);
