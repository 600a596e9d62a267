-- +goose Up

-- What was sent to a repository and may still arrive there: a text of an edit (unit_id), or
-- an edit of a file (file_edit_id), in the order in which the texts of a string were first
-- sent there (n). repo and branch say where; branch '' is the branch that is read. at_commit
-- is the commit of our branch that has it, next_commit that of a push whose end is not known;
-- without both it is a text that our branch had until left_at, which others may have fetched.
-- by_name and by_email say who gave the string another text when its edit had ended.
CREATE TABLE sent (
  unit_id        BIGINT NOT NULL,
  file_edit_id   BIGINT NOT NULL,
  n              INTEGER NOT NULL,
  component_id   BIGINT NOT NULL,
  translation_id BIGINT NOT NULL,
  target         TEXT NOT NULL,
  state          SMALLINT NOT NULL,
  repo           TEXT NOT NULL,
  branch         TEXT NOT NULL,
  at_commit      TEXT NOT NULL,
  next_commit    TEXT NOT NULL,
  left_at        BIGINT NOT NULL,
  by_name        TEXT NOT NULL DEFAULT '',
  by_email       TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (unit_id, file_edit_id, n)
) @CLUSTERED;
CREATE INDEX sent_component ON sent (component_id, translation_id);
CREATE INDEX sent_place ON sent (branch, repo);

INSERT INTO sent (unit_id, file_edit_id, n, component_id, translation_id, target, state, repo, branch, at_commit, next_commit, left_at)
  SELECT e.unit_id, 0, 1, c.id, e.translation_id, e.target, e.state, c.repo, e.pushed, COALESCE(b.at_commit, ''), '', e.updated_at
  FROM edits e JOIN translations t ON t.id = e.translation_id JOIN components c ON c.id = t.component_id
  LEFT JOIN push_branches b ON b.repo = c.repo AND b.branch = e.pushed WHERE e.status = 'pending' AND e.pushed <> '';
INSERT INTO sent (unit_id, file_edit_id, n, component_id, translation_id, target, state, repo, branch, at_commit, next_commit, left_at)
  SELECT 0, e.id, 1, c.id, 0, '', 0, c.repo, e.pushed, b.at_commit, '', e.updated_at
  FROM file_edits e JOIN components c ON c.id = e.component_id JOIN push_branches b ON b.repo = c.repo AND b.branch = e.pushed
  WHERE e.status = 'pending' AND e.pushed <> '';
ALTER TABLE edits DROP COLUMN pushed;
ALTER TABLE file_edits DROP COLUMN pushed;

-- The number of the event of an author's last text: times come from clocks, which differ.
ALTER TABLE edit_authors ADD COLUMN n INTEGER NOT NULL DEFAULT 0;
