-- +goose Up

-- What clients used of a limit until the span of the limit ends, counted by all
-- processes of a cluster together (PostgreSQL; in SQLite it is empty).
CREATE TABLE spent (
  client TEXT PRIMARY KEY,                -- a hash of the limit and of the client
  used   BIGINT NOT NULL,
  ends   BIGINT NOT NULL
);
CREATE INDEX spent_ends ON spent (ends);

-- What makes a branch one to take, so that a look costs what is due and not what there is.
CREATE INDEX mirrors_due ON mirrors (due) WHERE holder = '' AND active = 1;
CREATE INDEX mirrors_wished ON mirrors (wished) WHERE holder = '' AND active = 1 AND wished IS NOT NULL;
CREATE INDEX mirrors_expires ON mirrors (expires) WHERE holder <> '';

-- What a process says of itself: the local branches that it does not have, as JSON, and
-- why it pulls less than it could.
ALTER TABLE processes ADD COLUMN lacks TEXT NOT NULL DEFAULT '[]';
ALTER TABLE processes ADD COLUMN problem TEXT NOT NULL DEFAULT '';
