-- +goose Up

-- How many strings of a translation fail each quality check, counted by the steps that
-- change rows of failing. check_id is the check's bit in failing.
CREATE TABLE check_counts (
  component_id   BIGINT NOT NULL,
  check_id       BIGINT NOT NULL,
  translation_id BIGINT NOT NULL,
  units          BIGINT NOT NULL,
  PRIMARY KEY (component_id, check_id, translation_id)
) @CLUSTERED;
INSERT INTO check_counts (check_id, component_id, translation_id, units)
WITH RECURSIVE bits(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM bits WHERE n < 63),
masks(component_id, translation_id, low, high, units) AS (
  SELECT t.component_id, t.id, f.low, f.high, COUNT(*) FROM failing f JOIN translations t ON t.id = f.translation_id
  GROUP BY t.component_id, t.id, f.low, f.high
)
SELECT n, component_id, translation_id, SUM(units) FROM masks JOIN bits ON (low >> n) & 1 = 1 GROUP BY 1, 2, 3
UNION ALL
SELECT n + 64, component_id, translation_id, SUM(units) FROM masks JOIN bits ON (high >> n) & 1 = 1 GROUP BY 1, 2, 3;
