-- +goose Up

-- The name of what generations count: renewed when a backup becomes the database,
-- since the same generation may then be another state.
ALTER TABLE clock ADD COLUMN history TEXT NOT NULL DEFAULT '';
-- The newest generation of anything that strangers may see, or could see before it.
ALTER TABLE clock ADD COLUMN public BIGINT NOT NULL DEFAULT 0;
UPDATE clock SET history = @RANDOM, public = generation;
