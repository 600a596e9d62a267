-- +goose Up

-- The number of bytes at the start of a note that are translator comments. The
-- index has the few units that have any.
ALTER TABLE units ADD COLUMN remark INTEGER NOT NULL DEFAULT 0;
CREATE INDEX units_remark ON units (translation_id, source_id, remark, removed) WHERE remark > 0 AND removed = 0;

-- Numbers of units with a comment and with a suggestion.
ALTER TABLE translations ADD COLUMN comments BIGINT NOT NULL DEFAULT 0;
ALTER TABLE translations ADD COLUMN suggestions BIGINT NOT NULL DEFAULT 0;

-- Whether the units of a component were read with their translator comments: if
-- an older version read them, they are read again.
ALTER TABLE components ADD COLUMN remarked SMALLINT NOT NULL DEFAULT 1;
UPDATE components SET remarked = 0 WHERE head <> '';
