-- +goose Up
-- The newest change when the first import of a component ended: its entries up to that are no
-- news. 0 before, and of components that an older version imported.
ALTER TABLE components ADD COLUMN imported_change BIGINT NOT NULL DEFAULT 0;
-- How far those are told who are told of changes: told is the last change that they have, or do
-- not want, upto the last one of a delivery that may have arrived, skipped how many were too old.
CREATE TABLE receivers (
  name     TEXT PRIMARY KEY,
  told     BIGINT NOT NULL,
  upto     BIGINT NOT NULL DEFAULT 0,
  skipped  BIGINT NOT NULL DEFAULT 0,
  failures BIGINT NOT NULL DEFAULT 0,
  since    BIGINT,
  due      BIGINT,
  holder   TEXT NOT NULL DEFAULT '',
  expires  BIGINT
) @CLUSTERED;
