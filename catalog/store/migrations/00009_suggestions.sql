-- +goose Up

-- Texts that other branches have for live units, one per branch. The author need
-- not be a user, since users are authors of entries: author_key is like
-- users.email_hash.
CREATE TABLE suggestions (
  unit_id        BIGINT NOT NULL,
  branch         TEXT NOT NULL,
  translation_id BIGINT NOT NULL,
  target         TEXT NOT NULL,
  author_name    TEXT NOT NULL,
  author_key     TEXT NOT NULL,
  at             BIGINT,
  commit_hash    TEXT NOT NULL,
  PRIMARY KEY (unit_id, branch)
) @CLUSTERED;
CREATE INDEX suggestions_translation ON suggestions (translation_id, unit_id);
