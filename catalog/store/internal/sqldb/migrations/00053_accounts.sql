-- +goose Up
-- Accounts of people who signed in with those of a provider: subject names one there for
-- ever, name is the newest that it had. Days are counted from 1970.
CREATE TABLE accounts (
  id           @ID PRIMARY KEY,
  provider     TEXT NOT NULL,
  subject      TEXT NOT NULL,
  name         TEXT NOT NULL,
  author_name  TEXT NOT NULL,
  author_email TEXT NOT NULL,
  created_at   BIGINT NOT NULL,
  seen_day     BIGINT NOT NULL,
  blocked      SMALLINT NOT NULL DEFAULT 0,
  UNIQUE (provider, subject)
);
-- The subject that first signed in with a name, in lower case: roles that name it are that
-- one's. It stays when the account is renamed or deleted.
CREATE TABLE account_names (
  provider TEXT NOT NULL,
  name     TEXT NOT NULL,
  subject  TEXT NOT NULL,
  PRIMARY KEY (provider, name)
) @CLUSTERED;
CREATE INDEX account_names_subject ON account_names (provider, subject);
-- Sign-ins that are on their way: hash is the SHA-256 of the state, browser that of a cookie.
CREATE TABLE sign_ins (
  hash       @BYTES PRIMARY KEY,
  browser    @BYTES NOT NULL,
  provider   TEXT NOT NULL,
  verifier   TEXT NOT NULL,
  nonce      TEXT NOT NULL,
  next       TEXT NOT NULL,
  expires_at BIGINT NOT NULL
) @CLUSTERED;
-- Whose a session or a token is; 0: it is no account's. A session has a token or an account.
ALTER TABLE sessions ADD COLUMN account_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN account_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE clock ADD COLUMN newest_account BIGINT NOT NULL DEFAULT 0;
