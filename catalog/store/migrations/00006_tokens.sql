-- +goose Up

-- Access tokens: hash is the SHA-256 of the secret, which is random, long and
-- not stored. AUTOINCREMENT is not portable: newest_token of the clock prevents
-- that an id is used twice.
CREATE TABLE tokens (
  id          @ID PRIMARY KEY,
  name        TEXT NOT NULL UNIQUE,
  hash        @BYTES NOT NULL UNIQUE,
  scope       TEXT NOT NULL,
  created_at  BIGINT NOT NULL
);
ALTER TABLE clock ADD COLUMN newest_token BIGINT NOT NULL DEFAULT 0;
