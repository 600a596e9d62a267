-- +goose Up

-- Scopes: translations whose units are compared with each other, for the checks
-- inconsistent and reused. rule is what they have in common; sole_id is the only
-- translation that a scope ever had, or 0.
CREATE TABLE compared_scopes (
  id            @AUTOID PRIMARY KEY,
  project_id    BIGINT NOT NULL,
  rule          TEXT NOT NULL,
  plural_number INTEGER NOT NULL,
  sole_id       BIGINT NOT NULL,
  UNIQUE (project_id, rule)
);
ALTER TABLE translations ADD COLUMN scope_id BIGINT NOT NULL DEFAULT 0;
CREATE INDEX translations_scope ON translations (scope_id) WHERE scope_id > 0;

-- The groups of a scope: units with the same source (even keys, only if the scope
-- has several translations) and units with the same target (odd keys). value is a
-- hash of what the members of a group may differ in. The smallest and the largest
-- value of a group tell which members fail, so no group is ever counted.
CREATE TABLE compared_units (
  scope_id BIGINT NOT NULL,
  key      BIGINT NOT NULL,
  value    BIGINT NOT NULL,
  unit_id  BIGINT NOT NULL,
  PRIMARY KEY (scope_id, key, value, unit_id)
) @CLUSTERED;

-- They replace echoes. The next pulls check everything again and fill them.
DROP TABLE echoes;
ALTER TABLE units DROP COLUMN echo;
UPDATE translations SET checked = '';
