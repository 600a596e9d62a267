-- pending edits that are not served
SELECT COUNT(*) FROM edits e JOIN units u ON u.id = e.unit_id
	WHERE e.status = 'pending' AND u.removed = 0 AND (u.target <> e.target OR u.state <> e.state OR e.previous NOT IN ('', u.previous_source))

-- edits without their string
SELECT COUNT(*) FROM edits e LEFT JOIN units u ON u.id = e.unit_id AND u.translation_id = e.translation_id WHERE e.kind = 'text' AND u.id IS NULL

-- edits without an author or a past
SELECT COUNT(*) FROM edits e WHERE NOT EXISTS (SELECT 1 FROM edit_authors a WHERE a.edit_id = e.id)
	OR NOT EXISTS (SELECT 1 FROM edit_events v WHERE v.edit_id = e.id)

-- authors of edits that are not there
SELECT COUNT(*) FROM edit_authors a LEFT JOIN edits e ON e.id = a.edit_id WHERE e.id IS NULL

-- the past of edits that are not there
SELECT COUNT(*) FROM edit_events v LEFT JOIN edits e ON e.id = v.edit_id WHERE e.id IS NULL

-- edits without their component, or of no kind
SELECT COUNT(*) FROM edits e LEFT JOIN components c ON c.id = e.component_id
	WHERE c.id IS NULL OR (e.kind = 'text') <> (e.unit_id > 0) OR e.unit_id > 0 AND e.component_id <> e.unit_id / (1 << 28)
	OR e.kind NOT IN ('text', 'add-string', 'add-file', 'remove-file', 'update-file', 'template') OR e.kind <> 'text' AND (e.path = '' OR e.status NOT IN ('pending', 'flushed', 'discarded') AND (e.kind <> 'update-file' OR e.status <> 'conflict'))

-- edits with what their kind does not have
SELECT COUNT(*) FROM edits WHERE kind = 'text' AND (language <> '' OR path <> '') OR kind = 'add-file' AND translation_id <> 0
	OR kind IN ('text', 'add-file', 'remove-file') AND (id_hash <> 0 OR id_key <> 0 OR context <> '' OR source <> '') OR kind NOT IN ('text', 'add-string') AND target <> '' OR kind IN ('add-string', 'update-file', 'template') AND source = ''

-- texts that were sent of strings that are not there
SELECT COUNT(*) FROM sent s LEFT JOIN units u ON u.id = s.unit_id AND u.translation_id = s.translation_id
	WHERE s.unit_id > 0 AND u.id IS NULL

-- edits of files that were sent and are not pending
SELECT COUNT(*) FROM sent s LEFT JOIN edits e ON e.id = s.edit_id AND e.unit_id = 0 AND e.component_id = s.component_id AND e.status = 'pending'
	WHERE s.unit_id = 0 AND e.id IS NULL

-- texts that were sent nowhere
SELECT COUNT(*) FROM sent WHERE at_commit = '' AND next_commit = '' AND left_at = 0 OR at_commit <> '' AND branch = ''

-- components whose content is newer than they are
SELECT COUNT(*) FROM components WHERE content_generation > generation

-- changes of settings of another generation
SELECT COUNT(*) FROM clock WHERE configured > generation
	OR configured < (SELECT COALESCE(MAX(settings_generation), 0) FROM projects) OR configured < (SELECT COALESCE(MAX(settings_generation), 0) FROM components)

-- something that strangers see of a generation to come
SELECT COUNT(*) FROM clock WHERE public > generation

-- strings of groups that are not there
SELECT COUNT(*) FROM compared_units c WHERE NOT EXISTS (SELECT 1 FROM compared_scopes s WHERE s.id = c.scope_id)

-- groups of strings of none of the projects
SELECT COUNT(*) FROM compared_scopes s WHERE NOT EXISTS (SELECT 1 FROM projects p WHERE p.id = s.project_id)

-- sums of changes of no list
SELECT COUNT(*) FROM spans x WHERE NOT (x.kind = 's' AND x.id = 1)
	AND NOT (x.kind = 'p' AND EXISTS (SELECT 1 FROM projects o WHERE o.id = x.id)) AND NOT (x.kind = 'c' AND EXISTS (SELECT 1 FROM components o WHERE o.id = x.id))

-- changes of no commit
SELECT COUNT(*) FROM changes c WHERE NOT EXISTS (SELECT 1 FROM deltas d WHERE d.id = c.delta_id)
