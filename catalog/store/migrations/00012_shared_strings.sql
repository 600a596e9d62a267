-- +goose Up

-- How the strings of a component count in the statistics of its project: 0 not at
-- all, 1 for everybody, 2 only for those who see private components. In a database
-- of an older version nothing is counted; opening it counts.
ALTER TABLE components ADD COLUMN counted SMALLINT NOT NULL DEFAULT 0;

-- The live source strings of counted components. A string with two rows is shared.
CREATE TABLE occurrences (
  project_id BIGINT NOT NULL,
  id_hash    BIGINT NOT NULL,
  id_key     BIGINT NOT NULL,
  source_id  BIGINT NOT NULL,
  PRIMARY KEY (project_id, id_hash, id_key, source_id)
) @CLUSTERED;

-- How often shared strings occur in each state, by language (sharedString). No
-- ids: a string that 2,000 components share costs what one of two does.
CREATE TABLE shared_strings (
  project_id BIGINT NOT NULL,
  id_hash    BIGINT NOT NULL,
  id_key     BIGINT NOT NULL,
  data       @BYTES NOT NULL,
  PRIMARY KEY (project_id, id_hash, id_key)
) @CLUSTERED;

-- By how much the statistics of a project exceed those with every shared string
-- counted once; with private = 0 of public components only.
CREATE TABLE repeats (
  project_id BIGINT NOT NULL,
  language   TEXT NOT NULL,
  private    SMALLINT NOT NULL,
  total      BIGINT NOT NULL, total_words      BIGINT NOT NULL, total_chars      BIGINT NOT NULL,
  translated BIGINT NOT NULL, translated_words BIGINT NOT NULL, translated_chars BIGINT NOT NULL,
  fuzzy      BIGINT NOT NULL, fuzzy_words      BIGINT NOT NULL, fuzzy_chars      BIGINT NOT NULL,
  readonly   BIGINT NOT NULL, readonly_words   BIGINT NOT NULL, readonly_chars   BIGINT NOT NULL,
  PRIMARY KEY (project_id, language, private)
) @CLUSTERED;
