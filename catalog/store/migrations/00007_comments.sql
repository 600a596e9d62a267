-- +goose Up

-- How many bytes of a note, from its beginning, are translator comments. The
-- index has the few units that have some.
ALTER TABLE units ADD COLUMN remark INTEGER NOT NULL DEFAULT 0;
CREATE INDEX units_remark ON units (translation_id, source_id, remark, removed) WHERE remark > 0 AND removed = 0;

-- Numbers of units with a comment and with a suggestion.
ALTER TABLE translations ADD COLUMN comments BIGINT NOT NULL DEFAULT 0;
ALTER TABLE translations ADD COLUMN suggestions BIGINT NOT NULL DEFAULT 0;

-- Whether the units of a component were read with their remarks: those of
-- databases from before are read once more.
ALTER TABLE components ADD COLUMN remarked SMALLINT NOT NULL DEFAULT 1;
UPDATE components SET remarked = 0 WHERE head <> '';
