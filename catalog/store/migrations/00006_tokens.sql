-- +goose Up

-- Access tokens: hash is the SHA-256 of the secret, which is random and long and
-- stands nowhere. AUTOINCREMENT is not portable: newest_token of the clock keeps
-- ids from being given twice.
CREATE TABLE tokens (
  id          @ID PRIMARY KEY,
  name        TEXT NOT NULL UNIQUE,
  hash        @BYTES NOT NULL UNIQUE,
  scope       TEXT NOT NULL,
  created_at  BIGINT NOT NULL
);
ALTER TABLE clock ADD COLUMN newest_token BIGINT NOT NULL DEFAULT 0;
