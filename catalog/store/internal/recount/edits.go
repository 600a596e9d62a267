package recount

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
)

// journal verifies the journal of edits: texts that are pending are served, and every edit
// has its component, an author and a past, and one of a text its string.
func (v *verifier) journal(ctx context.Context) {
	for _, c := range []struct{ what, query string }{
		{"pending edits that are not served", `SELECT COUNT(*) FROM edits e JOIN units u ON u.id = e.unit_id
			WHERE e.status = 'pending' AND u.removed = 0 AND (u.target <> e.target OR u.state <> e.state)`},
		{"edits without their string", `SELECT COUNT(*) FROM edits e LEFT JOIN units u ON u.id = e.unit_id AND u.translation_id = e.translation_id WHERE e.kind = 'text' AND u.id IS NULL`},
		{"edits without an author or a past", `SELECT COUNT(*) FROM edits e WHERE NOT EXISTS (SELECT 1 FROM edit_authors a WHERE a.edit_id = e.id)
			OR NOT EXISTS (SELECT 1 FROM edit_events v WHERE v.edit_id = e.id)`},
		{"authors of edits that are not there", `SELECT COUNT(*) FROM edit_authors a LEFT JOIN edits e ON e.id = a.edit_id WHERE e.id IS NULL`},
		{"the past of edits that are not there", `SELECT COUNT(*) FROM edit_events v LEFT JOIN edits e ON e.id = v.edit_id WHERE e.id IS NULL`},
		{"edits without their component, or of no kind", `SELECT COUNT(*) FROM edits e LEFT JOIN components c ON c.id = e.component_id
			WHERE c.id IS NULL OR (e.kind = 'text') <> (e.unit_id > 0) OR e.unit_id > 0 AND e.component_id <> e.unit_id / ` + fmt.Sprint(catalog.UnitsPerComponent) + `
			OR e.kind NOT IN ('text', 'add-string', 'add-file', 'remove-file') OR e.kind <> 'text' AND (e.path = '' OR e.status NOT IN ('pending', 'flushed', 'discarded'))`},
		{"edits with what their kind does not have", `SELECT COUNT(*) FROM edits WHERE kind = 'text' AND (language <> '' OR path <> '') OR kind = 'add-file' AND translation_id <> 0
			OR kind <> 'add-string' AND (id_hash <> 0 OR id_key <> 0 OR context <> '' OR source <> '') OR kind NOT IN ('text', 'add-string') AND target <> '' OR kind = 'add-string' AND source = ''`},
		{"texts that were sent of strings that are not there", `SELECT COUNT(*) FROM sent s LEFT JOIN units u ON u.id = s.unit_id AND u.translation_id = s.translation_id
			WHERE s.unit_id > 0 AND u.id IS NULL`},
		{"edits of files that were sent and are not pending", `SELECT COUNT(*) FROM sent s LEFT JOIN edits e ON e.id = s.edit_id AND e.unit_id = 0 AND e.component_id = s.component_id AND e.status = 'pending'
			WHERE s.unit_id = 0 AND e.id IS NULL`},
		{"texts that were sent nowhere", `SELECT COUNT(*) FROM sent WHERE at_commit = '' AND next_commit = '' AND left_at = 0 OR at_commit <> '' AND branch = ''`},
	} {
		v.wantNoRows(ctx, &scope{}, c.what, c.query)
	}
}
