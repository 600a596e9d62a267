-- +goose Up

-- When the edits of a branch are pushed again (ingest.BranchKey), for all processes.
CREATE TABLE push_waits (
  branch    TEXT PRIMARY KEY,
  failures  INTEGER NOT NULL,  -- pushes in a row that failed
  held      INTEGER NOT NULL,  -- pushes in a row that left edits pending
  unreached SMALLINT NOT NULL, -- the repository could not be fetched
  ended     BIGINT,            -- the last push
  later     BIGINT,            -- nothing is pushed before
  held_till BIGINT,            -- what the last push left is not tried before
  until     BIGINT,            -- the forge wants no requests before
  wish      BIGINT NOT NULL    -- what a client of the cluster wished when a push failed; 0: nothing
);

-- Since when an edit has a text that no branch of ours has; 0: since updated_at.
ALTER TABLE edits ADD COLUMN since BIGINT NOT NULL DEFAULT 0;
