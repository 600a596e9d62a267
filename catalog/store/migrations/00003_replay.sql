-- +goose Up

-- When the first replay of a component's history began (microseconds): no entry
-- of it is later (decision 19), though the import be killed and go on another
-- day. NULL: nothing of the component was ever stored, or it was imported
-- before there were replays.
ALTER TABLE components ADD COLUMN import_at BIGINT;
