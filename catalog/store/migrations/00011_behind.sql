-- +goose Up

-- Lagging strings: source strings translated in fewer than half of a component's
-- languages, for the check long_untranslated. Components are counted (behind = 1)
-- once they have strings that are old enough; created is the unit's.
CREATE TABLE behind (
  component_id BIGINT NOT NULL,
  created      BIGINT NOT NULL,
  source_id    BIGINT NOT NULL,
  total        INTEGER NOT NULL,
  translated   INTEGER NOT NULL,
  PRIMARY KEY (component_id, created, source_id)
) @CLUSTERED;
ALTER TABLE components ADD COLUMN behind SMALLINT NOT NULL DEFAULT 0;
