-- +goose Up

-- Translation files that clients add or remove: a part of the journal. A row is never
-- deleted. A path has at most one row that is pending.
CREATE TABLE file_edits (
  id           @AUTOID PRIMARY KEY,
  component_id BIGINT NOT NULL,
  language     TEXT NOT NULL,
  path         TEXT NOT NULL,
  removes      SMALLINT NOT NULL,
  status       TEXT NOT NULL,
  reason       TEXT NOT NULL,
  pushed       TEXT NOT NULL, -- the branch that it was pushed to
  author_name  TEXT NOT NULL,
  author_email TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX file_edits_pending ON file_edits (component_id, path) WHERE status = 'pending';
