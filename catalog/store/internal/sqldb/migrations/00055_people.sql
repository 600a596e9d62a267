-- +goose Up
-- Who accepted the text of an edit that somebody else wrote, for its commit, and of what an
-- account without a role in the project suggested that account's id.
ALTER TABLE edits ADD COLUMN reviewer_name TEXT NOT NULL DEFAULT '';
ALTER TABLE edits ADD COLUMN reviewer_email TEXT NOT NULL DEFAULT '';
ALTER TABLE edits ADD COLUMN stranger BIGINT NOT NULL DEFAULT 0;
CREATE INDEX edits_strangers ON edits (component_id, stranger) WHERE stranger > 0 AND status = 'suggested';
-- Whose text it is: the id of an account, that of a token, negative, or 0.
ALTER TABLE edit_events ADD COLUMN person BIGINT NOT NULL DEFAULT 0;
CREATE INDEX edit_events_person ON edit_events (person, at) WHERE person <> 0;
-- What was done with accounts by others, and that they were deleted; never changed.
CREATE TABLE account_events (
  id       @ID PRIMARY KEY,
  at       BIGINT NOT NULL,
  event    TEXT NOT NULL,
  account  BIGINT NOT NULL,
  name     TEXT NOT NULL,
  who      TEXT NOT NULL
);
