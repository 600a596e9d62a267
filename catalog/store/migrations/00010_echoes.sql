-- +goose Up

-- What finds units.echo, of units that were checked, in place of an index that
-- every batch of a replay kept up to date: checks write it, in its own order. A
-- pair whose unit has another echo by now counts for nothing.
CREATE TABLE echoes (
  echo    BIGINT NOT NULL,
  unit_id BIGINT NOT NULL,
  PRIMARY KEY (echo, unit_id)
) @CLUSTERED;
INSERT INTO echoes (echo, unit_id) SELECT u.echo, u.id FROM units u JOIN translations t ON t.id = u.translation_id
  WHERE u.echo IS NOT NULL AND t.checked <> '' ORDER BY u.echo, u.id;
DROP INDEX units_echo;
