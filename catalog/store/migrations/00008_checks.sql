-- +goose Up

-- The failing quality checks of live units, as bits of catalog/checks. Units
-- without failing checks have no row; usually that is five of six.
CREATE TABLE failing (
  unit_id        @ID PRIMARY KEY,
  translation_id BIGINT NOT NULL,
  source_id      BIGINT NOT NULL,
  low            BIGINT NOT NULL,
  high           BIGINT NOT NULL
);
CREATE INDEX failing_translation ON failing (translation_id, unit_id, low, high);
CREATE INDEX failing_source ON failing (source_id, unit_id, low, high);

-- The key with which the units of a translation were checked; '' if they were
-- not: others are then not compared with them.
ALTER TABLE translations ADD COLUMN checked TEXT NOT NULL DEFAULT '';
CREATE INDEX translations_unchecked ON translations (component_id) WHERE checked = '' AND removed = 0;

-- A hash of project, language and target, which finds strings with the same
-- translation. NULL if no check needs it.
ALTER TABLE units ADD COLUMN echo BIGINT;
CREATE INDEX units_echo ON units (echo, id) WHERE echo IS NOT NULL;
