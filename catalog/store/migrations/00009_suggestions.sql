-- +goose Up

-- Texts that other branches have for live units, one for each branch. The author
-- need not be among the users, who are those of entries: author_key is as
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
