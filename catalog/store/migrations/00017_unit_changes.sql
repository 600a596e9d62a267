-- +goose Up

-- The history of one string.
CREATE INDEX changes_unit ON changes (unit_id, delta_id, n) WHERE unit_id IS NOT NULL;
