-- +goose Up

-- Names in the Co-authored-by trailers of the commit, a JSON array; NULL without
-- trailers.
ALTER TABLE deltas ADD COLUMN co_authors TEXT;

-- The statistics of a translation at the end of each day (UTC, days since 1970)
-- on which they were written. On other days they are those of the last day before.
-- data is 15 varints, in the order of catalog.Stats; empty if the file was
-- removed.
CREATE TABLE stat_days (
  translation_id BIGINT NOT NULL,
  day            INTEGER NOT NULL,
  data           @BYTES NOT NULL,
  PRIMARY KEY (translation_id, day)
) @CLUSTERED;
