-- +goose Up

-- When a token ends, in microseconds; 0: never. The last day on which it was used,
-- counted from 1970; 0: never.
ALTER TABLE tokens ADD COLUMN expires_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN used_day BIGINT NOT NULL DEFAULT 0;

-- What was done with tokens, never changed and never deleted.
CREATE TABLE token_events (
  id          @ID PRIMARY KEY,
  at          BIGINT NOT NULL,
  event       TEXT NOT NULL,
  name        TEXT NOT NULL,
  scope       TEXT NOT NULL,
  expires_at  BIGINT NOT NULL
);
