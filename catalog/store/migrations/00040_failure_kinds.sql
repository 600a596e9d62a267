-- +goose Up

-- The kinds of the failures whose words are in problem and push_problem, and since when they
-- failed, in microseconds; '' and NULL if they did not. Words of before may have what nobody
-- should see; those of the next pull or push replace them.
ALTER TABLE components ADD COLUMN problem_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE components ADD COLUMN problem_since BIGINT;
ALTER TABLE components ADD COLUMN push_problem_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE components ADD COLUMN push_problem_since BIGINT;
UPDATE components SET problem = '', problem_kind = 'failed' WHERE problem <> '';
UPDATE components SET push_problem = '', push_problem_kind = 'failed' WHERE push_problem <> '';
