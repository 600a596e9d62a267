package store

import "strings"

// oldestExport is the schema of the oldest exports that Import reads. Versions with it and
// with those up to firstSchema were never released.
const oldestExport = 37

// olderColumns are what exports of older versions have and the database does not. The
// statements of olderRows remove them.
var olderColumns = []string{
	`ALTER TABLE components ADD COLUMN remarked SMALLINT NOT NULL DEFAULT 1`,
	`ALTER TABLE edits ADD COLUMN pushed TEXT NOT NULL DEFAULT ''`,
	`ALTER TABLE file_edits ADD COLUMN pushed TEXT NOT NULL DEFAULT ''`,
	`ALTER TABLE components ADD COLUMN counted SMALLINT NOT NULL DEFAULT 0`,
	`CREATE TABLE occurrences (project_id BIGINT, id_hash BIGINT, id_key BIGINT, source_id BIGINT)`,
	`CREATE TABLE shared_strings (project_id BIGINT, id_hash BIGINT, id_key BIGINT, data BYTEA)`,
	`CREATE TABLE repeats (project_id BIGINT, language TEXT, private SMALLINT, ` + strings.Join(countColumns(fileCounts, "%s BIGINT"), ", ") + `)`,
}

// olderRows make what older versions stored what this one stores: where edits were sent to,
// the kinds of failures without words that nobody should see, and which components the next
// pull reads again.
var olderRows = []string{
	`INSERT INTO sent (unit_id, file_edit_id, n, component_id, translation_id, target, state, repo, branch, at_commit, next_commit, left_at)
		SELECT e.unit_id, 0, 1, c.id, e.translation_id, e.target, e.state, c.repo, e.pushed, COALESCE(b.at_commit, ''), '', e.updated_at
		FROM edits e JOIN translations t ON t.id = e.translation_id JOIN components c ON c.id = t.component_id
		LEFT JOIN push_branches b ON b.repo = c.repo AND b.branch = e.pushed WHERE e.status = 'pending' AND e.pushed <> ''`,
	`INSERT INTO sent (unit_id, file_edit_id, n, component_id, translation_id, target, state, repo, branch, at_commit, next_commit, left_at)
		SELECT 0, e.id, 1, c.id, 0, '', 0, c.repo, e.pushed, b.at_commit, '', e.updated_at
		FROM file_edits e JOIN components c ON c.id = e.component_id JOIN push_branches b ON b.repo = c.repo AND b.branch = e.pushed
		WHERE e.status = 'pending' AND e.pushed <> ''`,
	`UPDATE components SET problem = '', problem_kind = 'failed' WHERE problem <> '' AND problem_kind = ''`,
	`UPDATE components SET push_problem = '', push_problem_kind = 'failed' WHERE push_problem <> '' AND push_problem_kind = ''`,
	`UPDATE translations SET template = -1 WHERE is_source = 1 AND template = 0 AND (component_id IN (SELECT id FROM components WHERE remarked = 0)
		OR NOT EXISTS (SELECT 1 FROM translations t WHERE t.component_id = translations.component_id AND t.is_source = 0 AND t.removed = 0 AND t.filename = translations.filename))`,
	`UPDATE clock SET floor = 50`,
	`ALTER TABLE components DROP COLUMN remarked`,
	`ALTER TABLE edits DROP COLUMN pushed`,
	`ALTER TABLE file_edits DROP COLUMN pushed`,
	`ALTER TABLE components DROP COLUMN counted`,
	`DROP TABLE occurrences`,
	`DROP TABLE shared_strings`,
	`DROP TABLE repeats`,
}
