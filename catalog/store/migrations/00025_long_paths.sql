-- +goose Up

-- An index row of PostgreSQL has 2,704 bytes, the path of a file that is refused up to
-- 16 KiB. A component has few problems.
@POSTGRES ALTER TABLE problems DROP CONSTRAINT problems_pkey;
@POSTGRES CREATE INDEX problems_component ON problems (component_id);
