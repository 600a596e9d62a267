-- +goose Up

-- The journal: what people changed through the API since the repository's text (base).
-- A row is never deleted. A unit has at most one row that is pending.
CREATE TABLE edits (
  id             @AUTOID PRIMARY KEY,
  unit_id        BIGINT NOT NULL,
  translation_id BIGINT NOT NULL,
  base_target    TEXT NOT NULL,
  base_state     SMALLINT NOT NULL,
  target         TEXT NOT NULL,
  state          SMALLINT NOT NULL,
  status         TEXT NOT NULL,
  reason         TEXT NOT NULL,
  pushed         TEXT NOT NULL DEFAULT '', -- the branch of ours that has just this text
  created_at     BIGINT NOT NULL,
  updated_at     BIGINT NOT NULL
);
CREATE UNIQUE INDEX edits_pending ON edits (unit_id) WHERE status = 'pending';
CREATE INDEX edits_translation ON edits (translation_id, status, id);

-- Who wrote a text of an edit, each once, with the time of the last one. The address is
-- for commits only.
CREATE TABLE edit_authors (
  edit_id BIGINT NOT NULL,
  name    TEXT NOT NULL,
  email   TEXT NOT NULL,
  at      BIGINT NOT NULL,
  PRIMARY KEY (edit_id, name, email)
) @CLUSTERED;

-- What happened to an edit, never changed and never deleted.
CREATE TABLE edit_events (
  edit_id BIGINT NOT NULL,
  n       INTEGER NOT NULL,
  at      BIGINT NOT NULL,
  name    TEXT NOT NULL,
  event   TEXT NOT NULL,
  target  TEXT NOT NULL,
  state   SMALLINT NOT NULL,
  PRIMARY KEY (edit_id, n)
) @CLUSTERED;

-- Branches that are ours and wholly derived: where they were put last (at_commit), where
-- a push that may have been interrupted puts them (next_commit), and the request to
-- merge them.
CREATE TABLE push_branches (
  repo        TEXT NOT NULL,
  branch      TEXT NOT NULL,
  at_commit   TEXT NOT NULL,
  next_commit TEXT NOT NULL,
  request     BIGINT NOT NULL DEFAULT 0,
  request_url TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (repo, branch)
) @CLUSTERED;

-- Who a token writes as, for commits.
ALTER TABLE tokens ADD COLUMN author_name TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN author_email TEXT NOT NULL DEFAULT '';
