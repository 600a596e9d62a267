-- +goose Up

-- The failing quality checks of live units, as bits of catalog/checks. Only
-- units with one are there: a sixth of those of usual translations.
CREATE TABLE failing (
  unit_id        @ID PRIMARY KEY,
  translation_id BIGINT NOT NULL,
  source_id      BIGINT NOT NULL,
  low            BIGINT NOT NULL,
  high           BIGINT NOT NULL
);
CREATE INDEX failing_translation ON failing (translation_id, unit_id, low, high);
CREATE INDEX failing_source ON failing (source_id, unit_id, low, high);

-- What the units of a translation were checked with; '' if they were not, and
-- then they are nothing that others are compared with.
ALTER TABLE translations ADD COLUMN checked TEXT NOT NULL DEFAULT '';
CREATE INDEX translations_unchecked ON translations (component_id) WHERE checked = '' AND removed = 0;

-- A hash of project, language and target: what finds strings with one
-- translation. NULL where there is nothing to find.
ALTER TABLE units ADD COLUMN echo BIGINT;
CREATE INDEX units_echo ON units (echo, id) WHERE echo IS NOT NULL;
