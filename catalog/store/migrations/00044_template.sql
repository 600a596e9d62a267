-- +goose Up

-- The live source strings that only translations have, of components with a template:
-- changed_to is the template's string with the same msgid and another msgid_plural, or 0.
CREATE TABLE extra_strings (
  source_id  @ID PRIMARY KEY,
  changed_to BIGINT NOT NULL
);
CREATE INDEX extra_strings_changed ON extra_strings (changed_to) WHERE changed_to > 0;

-- Whether a source translation is made from a template (-1: an older version stored it),
-- and how the units of a translation compare with it (catalog.Against).
ALTER TABLE translations ADD COLUMN template SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE translations ADD COLUMN extra BIGINT NOT NULL DEFAULT 0;
ALTER TABLE translations ADD COLUMN extra_words BIGINT NOT NULL DEFAULT 0;
ALTER TABLE translations ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE translations ADD COLUMN changed_translated BIGINT NOT NULL DEFAULT 0;
ALTER TABLE translations ADD COLUMN changed_translated_words BIGINT NOT NULL DEFAULT 0;
ALTER TABLE translations ADD COLUMN changed_fuzzy BIGINT NOT NULL DEFAULT 0;
UPDATE translations SET template = -1 WHERE is_source = 1 AND NOT EXISTS (
  SELECT 1 FROM translations t WHERE t.component_id = translations.component_id AND t.is_source = 0 AND t.removed = 0 AND t.filename = translations.filename);
