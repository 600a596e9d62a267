-- What older versions stored becomes what this one stores: where edits were sent to, the kinds
-- of failures without words that nobody should see, and which components the next pull reads
-- again.
ALTER TABLE sent RENAME COLUMN file_edit_id TO edit_id;
UPDATE edits SET component_id = unit_id / 268435456;
-- The edits of files come after those of texts; two steps each, as ids are unique.
UPDATE sent SET edit_id = -edit_id WHERE edit_id > 0;
UPDATE sent SET edit_id = (SELECT COALESCE(MAX(id), 0) FROM edits) - edit_id WHERE edit_id < 0;
UPDATE file_edits SET id = -id;
UPDATE file_edits SET id = (SELECT COALESCE(MAX(id), 0) FROM edits) - id;
INSERT INTO edits (id, kind, component_id, translation_id, unit_id, language, path, id_hash, id_key, source, context, base_target, base_state, target, state, status, reason, created_at, updated_at, away_at)
	SELECT f.id, CASE WHEN f.removes = 1 THEN 'remove-file' WHEN f.source <> '' THEN 'add-string' ELSE 'add-file' END, f.component_id,
	CASE WHEN f.removes = 0 AND f.source = '' THEN 0 ELSE COALESCE((SELECT MAX(t.id) FROM translations t WHERE t.component_id = f.component_id AND t.filename = f.path), 0) END,
	0, f.language, f.path, f.id_hash, f.id_key, f.source, f.context, '', 0, f.target, f.state, f.status, f.reason, f.created_at, f.updated_at,
	CASE WHEN f.status = 'pending' AND f.reason <> '' THEN f.updated_at ELSE 0 END FROM file_edits f;
INSERT INTO edit_authors (edit_id, name, email, at, n) SELECT id, author_name, author_email, created_at, 1 FROM file_edits;
INSERT INTO edit_events (edit_id, n, at, name, event, target, state) SELECT id, 1, created_at, author_name, 'edited', target, state FROM file_edits;
INSERT INTO edit_events (edit_id, n, at, name, event, target, state) SELECT id, 2, updated_at, '', status, target, state FROM file_edits WHERE status <> 'pending';
UPDATE sent SET target = (SELECT f.target FROM file_edits f WHERE f.id = edit_id), state = (SELECT f.state FROM file_edits f WHERE f.id = edit_id) WHERE edit_id > 0;
INSERT INTO sent (unit_id, edit_id, n, component_id, translation_id, target, state, repo, branch, at_commit, next_commit, left_at)
	SELECT e.unit_id, 0, 1, c.id, e.translation_id, e.target, e.state, c.repo, e.pushed, COALESCE(b.at_commit, ''), '', e.updated_at
	FROM edits e JOIN components c ON c.id = e.component_id
	LEFT JOIN push_branches b ON b.repo = c.repo AND b.branch = e.pushed WHERE e.status = 'pending' AND e.pushed <> '';
INSERT INTO sent (unit_id, edit_id, n, component_id, translation_id, target, state, repo, branch, at_commit, next_commit, left_at)
	SELECT 0, e.id, 1, c.id, 0, e.target, e.state, c.repo, e.pushed, b.at_commit, '', e.updated_at
	FROM file_edits e JOIN components c ON c.id = e.component_id JOIN push_branches b ON b.repo = c.repo AND b.branch = e.pushed
	WHERE e.status = 'pending' AND e.pushed <> '';
UPDATE components SET problem = '', problem_kind = 'failed' WHERE problem <> '' AND problem_kind = '';
UPDATE components SET push_problem = '', push_problem_kind = 'failed' WHERE push_problem <> '' AND push_problem_kind = '';
UPDATE translations SET template = -1 WHERE is_source = 1 AND template = 0 AND (component_id IN (SELECT id FROM components WHERE remarked = 0)
	OR NOT EXISTS (SELECT 1 FROM translations t WHERE t.component_id = translations.component_id AND t.is_source = 0 AND t.removed = 0 AND t.filename = translations.filename));
UPDATE clock SET floor = 50;
ALTER TABLE components DROP COLUMN remarked;
ALTER TABLE edits DROP COLUMN pushed;
ALTER TABLE components DROP COLUMN counted;
DROP TABLE occurrences;
DROP TABLE shared_strings;
DROP TABLE repeats;
DROP TABLE file_edits;
