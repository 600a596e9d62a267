-- +goose Up

-- Sessions of browsers: hash is the SHA-256 of what the cookie has. A session shows what
-- its token shows, and ends with it.
CREATE TABLE sessions (
  hash        @BYTES PRIMARY KEY,
  token_id    BIGINT NOT NULL,
  created_at  BIGINT NOT NULL,
  expires_at  BIGINT NOT NULL
) @CLUSTERED;
