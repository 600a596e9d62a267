-- +goose Up

-- The schema of the oldest version that may still work with this one. Migrations add,
-- so that versions can run side by side; one that changes or removes what older versions
-- read raises it.
ALTER TABLE clock ADD COLUMN floor BIGINT NOT NULL DEFAULT 27;
-- The newest version of the checks that any process has.
ALTER TABLE clock ADD COLUMN checks BIGINT NOT NULL DEFAULT 0;
