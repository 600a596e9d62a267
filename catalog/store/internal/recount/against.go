package recount

import (
	"context"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// against recounts how the translations of a component compare with its template, and
// verifies the strings that it lacks.
func (v *verifier) against(ctx context.Context, c *scope, source int64, translations []scope) {
	var ids []int64
	for i := range translations {
		ids = append(ids, translations[i].id)
	}
	counted, err := rows.CountAgainst(ctx, v.s, c.id, ids)
	if err != nil {
		v.fail(err)
		return
	}
	for i := range translations {
		t := &translations[i]
		var stored catalog.Against
		v.first(ctx, `SELECT `+rows.AgainstColumns+` FROM translations t WHERE id = $1`, []any{t.id}, rows.AgainstOf(&stored)...)
		if stored != counted[t.id] {
			v.differ(t, "comparison with the template", fmt.Sprintf("%+v", stored), fmt.Sprintf("%+v", counted[t.id]))
		}
	}
	var template int64
	v.first(ctx, `SELECT COALESCE(MAX(template), 0) FROM translations WHERE id = $1`, []any{source}, &template)
	v.wantNoRows(ctx, c, "templates of translations", `SELECT COUNT(*) FROM translations WHERE component_id = $1 AND (template > 1 OR template <> 0 AND is_source = 0)`, c.id)
	v.query(ctx, `SELECT x.source_id, x.changed_to, COALESCE(u.translation_id, 0), COALESCE(u.removed, 1), COALESCE(u.source, ''), COALESCE(u.context, ''),
		COALESCE(o.translation_id, 0), COALESCE(o.removed, 1), COALESCE(o.source, ''), COALESCE(o.context, ''), COALESCE(y.source_id, 0)
		FROM extra_strings x LEFT JOIN units u ON u.id = x.source_id LEFT JOIN units o ON o.id = x.changed_to LEFT JOIN extra_strings y ON y.source_id = x.changed_to
		WHERE x.source_id >= $1 AND x.source_id < $2`, []any{c.id * catalog.UnitsPerComponent, (c.id + 1) * catalog.UnitsPerComponent}, func(scan sqldb.Scan) error {
		var id, to, of, removed, ofTo, removedTo, extraTo int64
		var text, context, textTo, contextTo string
		err := scan(&id, &to, &of, &removed, &text, &context, &ofTo, &removedTo, &textTo, &contextTo, &extraTo)
		if of != source || removed != 0 || template == 0 {
			v.differ(c, fmt.Sprintf("string %d that the template lacks", id), "stored", "none")
		}
		if to != 0 && (ofTo != source || removedTo != 0 || extraTo != 0 || context != contextTo || text == textTo || msgid(text) != msgid(textTo)) {
			v.differ(c, fmt.Sprintf("string of the template that string %d became", id), fmt.Sprint(to), "another")
		}
		return err
	})
}

// msgid is the first form of a source.
func msgid(source string) string {
	first, _, _ := strings.Cut(source, catalog.FormSeparator)
	return first
}
