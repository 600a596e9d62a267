-- +goose Up
-- Languages, of a project or with '' of all, of which accounts get a digest every so many days,
-- in the language reader: told is the newest change that the last one was about, due when the
-- next one is sent, secret what ends it.
CREATE TABLE follows (
  account_id BIGINT NOT NULL,
  language   TEXT NOT NULL,
  project    TEXT NOT NULL,
  days       BIGINT NOT NULL,
  reader     TEXT NOT NULL,
  secret     TEXT NOT NULL,
  told       BIGINT NOT NULL,
  due        BIGINT NOT NULL,
  PRIMARY KEY (account_id, language, project)
) @CLUSTERED;
