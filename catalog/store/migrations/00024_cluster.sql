-- +goose Up

-- What the processes of a cluster share (PostgreSQL; in SQLite these are empty).

-- One row for each branch of a repository: who pulls it, and when it is due.
CREATE TABLE mirrors (
  branch    TEXT PRIMARY KEY,             -- ingest.BranchKey
  project   TEXT NOT NULL,                -- to share out pulls
  host      TEXT NOT NULL,                -- '': a local repository
  active    SMALLINT NOT NULL,
  token     BIGINT NOT NULL DEFAULT 0,    -- one more with each lease
  holder    TEXT NOT NULL DEFAULT '',     -- processes.id; '': nobody
  expires   BIGINT,                       -- of the lease
  due       BIGINT,                       -- NULL: only if it is wished
  wished    BIGINT,                       -- since when
  wished_by TEXT NOT NULL DEFAULT '',
  started   BIGINT,                       -- the last pull
  ended     BIGINT,
  succeeded BIGINT,
  failures  INTEGER NOT NULL DEFAULT 0,   -- in a row
  problem   TEXT NOT NULL DEFAULT ''      -- of the last pull that ended
);

CREATE TABLE processes (
  id          TEXT PRIMARY KEY,
  machine     TEXT NOT NULL,
  pid         BIGINT NOT NULL,
  work        TEXT NOT NULL,
  version     TEXT NOT NULL,
  fingerprint TEXT NOT NULL,              -- of its configuration
  started     BIGINT NOT NULL,
  seen        BIGINT NOT NULL
);

-- The copies of the configuration that were ever seen; n is their order.
CREATE TABLE configurations (
  fingerprint TEXT PRIMARY KEY,
  revision    BIGINT NOT NULL,
  n           BIGINT NOT NULL,
  seen        BIGINT NOT NULL
);
