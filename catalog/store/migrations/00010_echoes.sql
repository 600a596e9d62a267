-- +goose Up

-- Finds checked units by units.echo, the hash of their target. An index would
-- have to be updated by every batch of a replay; checks write this table in its
-- own order. A row is ignored if its unit has another hash by now.
CREATE TABLE echoes (
  echo    BIGINT NOT NULL,
  unit_id BIGINT NOT NULL,
  PRIMARY KEY (echo, unit_id)
) @CLUSTERED;
INSERT INTO echoes (echo, unit_id) SELECT u.echo, u.id FROM units u JOIN translations t ON t.id = u.translation_id
  WHERE u.echo IS NOT NULL AND t.checked <> '' ORDER BY u.echo, u.id;
DROP INDEX units_echo;
