-- +goose Up
-- The memory asks which texts of edits of a string arrived in its file.
CREATE INDEX edits_arrived ON edits (unit_id) WHERE status = 'flushed';
-- Versions before 60 leave columns of search_blocks as they were when they write units, those
-- before 61 write and read another form of one.
UPDATE clock SET floor = 61;
