-- +goose Up

-- When the first replay of a component's history began (microseconds). Its
-- entries are never later (docs/compatibility.md#history), even if the import is
-- killed and continued on another day. NULL: nothing of the component was stored
-- yet, or a version without replays imported it.
ALTER TABLE components ADD COLUMN import_at BIGINT;
