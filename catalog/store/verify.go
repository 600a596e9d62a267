package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// Mismatch is a number of the database that a recount does not give.
type Mismatch struct {
	// Project, Component and Language name whose number it is; those below it
	// are "", for the whole server all of them.
	Project, Component, Language string
	// What is the number, as statistics call it where they show it.
	What string
	// Stored and Counted are the two, unequal; times are microseconds since 1970.
	Stored, Counted int64
}

// String is a line for a maintainer.
func (m Mismatch) String() string {
	where := strings.TrimRight(m.Project+"/"+m.Component+"/"+m.Language, "/")
	if where == "" {
		where = "the server"
	}
	return fmt.Sprintf("%s: %s: %d is stored, %d counted", where, m.What, m.Stored, m.Counted)
}

// Verified is how much a recount has seen.
type Verified struct{ Components, Translations, Units, Changes int64 }

// Verify counts everything anew that is kept by adding up what changes: the
// statistics of every translation, inactive components' too, from its units, the
// lengths of the lists of changes from the entries. each is told what differs.
// It reads every unit once, in this one snapshot.
func (s *Snapshot) Verify(ctx context.Context, each func(Mismatch)) (Verified, error) {
	v := verifier{s: s.s, codec: s.db.codec, each: each}
	err := v.run(ctx)
	return v.seen, s.db.fail(ctx, "verify", err)
}

type verifier struct {
	s     *session
	codec *codec
	each  func(Mismatch)
	seen  Verified
}

// scope is what a recount is about.
type verifyScope struct {
	Mismatch       // What is empty
	id       int64 // of the project, component or translation
	source   int64 // the source translation, of a translation's component
	template remarks
	removed  bool
}

func (v *verifier) compare(where *verifyScope, what string, stored, counted int64) {
	if stored != counted {
		m := where.Mismatch
		m.What, m.Stored, m.Counted = what, stored, counted
		v.each(m)
	}
}

func (v *verifier) run(ctx context.Context) error {
	components, projects, err := v.scopes(ctx)
	if err != nil {
		return err
	}
	for i := range components {
		if err := v.component(ctx, &components[i]); err != nil {
			return err
		}
	}
	for i := range projects {
		if err := v.sum(ctx, &projects[i], "changes", `SELECT changes FROM projects WHERE id = $1`,
			`SELECT COALESCE(SUM(n), 0) FROM deltas WHERE project_id = $1`); err != nil {
			return err
		}
	}
	return v.sum(ctx, &verifyScope{id: 1}, "changes", `SELECT last_change FROM clock WHERE one = $1`, `SELECT COALESCE(SUM(n), 0) FROM deltas WHERE $1 = 1`)
}

// scopes lists all components and projects.
func (v *verifier) scopes(ctx context.Context) (components, projects []verifyScope, err error) {
	err = v.s.query(ctx, `SELECT c.id, c.slug, p.slug FROM components c JOIN projects p ON p.id = c.project_id ORDER BY c.id`, nil, func(scan scan) error {
		var c verifyScope
		err := scan(&c.id, &c.Component, &c.Project)
		components = append(components, c)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	err = v.s.query(ctx, `SELECT id, slug FROM projects ORDER BY id`, nil, func(scan scan) error {
		var p verifyScope
		err := scan(&p.id, &p.Project)
		projects = append(projects, p)
		return err
	})
	return components, projects, err
}

// sum compares a stored number with a query's, both of the scope's id.
func (v *verifier) sum(ctx context.Context, where *verifyScope, what, stored, counted string) error {
	var a, b int64
	if _, err := v.s.first(ctx, stored, []any{where.id}, &a); err != nil {
		return err
	}
	if _, err := v.s.first(ctx, counted, []any{where.id}, &b); err != nil {
		return err
	}
	v.compare(where, what, a, b)
	return nil
}

func (v *verifier) component(ctx context.Context, c *verifyScope) error {
	v.seen.Components++
	const changes = `SELECT changes FROM components WHERE id = $1`
	if err := v.sum(ctx, c, "changes", changes, `SELECT COALESCE(SUM(n), 0) FROM deltas WHERE component_id = $1`); err != nil {
		return err
	}
	entries := fmt.Sprintf(`SELECT COUNT(*) FROM changes WHERE delta_id >= $1 * %d AND delta_id < ($1 + 1) * %[1]d`, catalog.UnitsPerComponent)
	if err := v.sum(ctx, c, "entries of changes", changes, entries); err != nil {
		return err
	}
	source, template, err := componentTemplate(ctx, v.s, c.id)
	if err != nil {
		return err
	}
	var translations []verifyScope
	err = v.s.query(ctx, `SELECT id, language, removed FROM translations WHERE component_id = $1 ORDER BY id`, []any{c.id}, func(scan scan) error {
		t := verifyScope{Mismatch: c.Mismatch, source: source, template: template}
		err := scan(&t.id, &t.Language, &t.removed)
		translations = append(translations, t)
		return err
	})
	if err != nil {
		return err
	}
	for i := range translations {
		if err := v.translation(ctx, &translations[i]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) translation(ctx context.Context, t *verifyScope) error {
	v.seen.Translations++
	if err := v.ledger(ctx, t); err != nil || t.removed {
		return err
	}
	if err := v.units(ctx, t); err != nil {
		return err
	}
	for _, c := range sparseCounts {
		var stored int64
		if _, err := v.s.first(ctx, `SELECT `+c.stored+` FROM translations WHERE id = $1`, []any{t.id}, &stored); err != nil {
			return err
		}
		counted, err := c.count(ctx, v.s, t)
		if err != nil {
			return err
		}
		v.compare(t, c.stored, stored, counted)
	}
	return v.day(ctx, t)
}

// unitCounts are the counts of units, each with words and chars in columns of the
// same name behind it: a condition on a unit u.
var unitCounts = []struct{ stored, of string }{
	{"total", "1 = 1"},
	{"translated", fmt.Sprintf("u.state >= %d", catalog.StateTranslated)},
	{"fuzzy", fmt.Sprintf("u.state = %d", catalog.StateFuzzy)},
	{"readonly", fmt.Sprintf("u.state = %d", catalog.StateReadOnly)},
	{"failing", "EXISTS (SELECT 1 FROM failing f WHERE f.unit_id = u.id)"},
}

// sparseCounts are the counts of what few units have, by column.
var sparseCounts = []struct {
	stored string
	count  func(ctx context.Context, s *session, t *verifyScope) (int64, error)
}{
	{"comments", func(ctx context.Context, s *session, t *verifyScope) (int64, error) {
		if t.id == t.source {
			return 0, nil
		}
		return commentCount(ctx, s, t.id, t.template)
	}},
	{"suggestions", func(ctx context.Context, s *session, t *verifyScope) (int64, error) {
		return suggestionCount(ctx, s, t.id)
	}},
}

// units counts the units of a translation.
func (v *verifier) units(ctx context.Context, t *verifyScope) error {
	var columns, sums []string
	for _, c := range unitCounts {
		columns = append(columns, c.stored, c.stored+"_words", c.stored+"_chars")
		for _, of := range []string{"1", "COALESCE(s.words, 0)", "COALESCE(s.chars, 0)"} {
			sums = append(sums, `COALESCE(SUM(CASE WHEN `+c.of+` THEN `+of+` ELSE 0 END), 0)`)
		}
	}
	stored, counted := make([]int64, len(columns)), make([]int64, len(columns))
	if err := v.numbers(ctx, `SELECT `+strings.Join(columns, ", ")+` FROM translations WHERE id = $1`, t.id, stored); err != nil {
		return err
	}
	if err := v.numbers(ctx, `SELECT `+strings.Join(sums, ", ")+` FROM units u LEFT JOIN units s ON s.id = u.source_id
		WHERE u.translation_id = $1 AND u.removed = 0`, t.id, counted); err != nil {
		return err
	}
	for i, what := range columns {
		v.compare(t, what, stored[i], counted[i])
	}
	v.seen.Units += counted[0]
	placed, err := v.placed(ctx, t.id)
	v.compare(t, "units in the list", placed, counted[0])
	return err
}

func (v *verifier) numbers(ctx context.Context, query string, id int64, numbers []int64) error {
	dest := make([]any, len(numbers))
	for i := range dest {
		dest[i] = &numbers[i]
	}
	_, err := v.s.first(ctx, query, []any{id}, dest...)
	return err
}

// placed counts the units that lists show: those of the layout that are live.
func (v *verifier) placed(ctx context.Context, translation int64) (n int64, err error) {
	err = v.s.query(ctx, `SELECT data FROM layouts WHERE translation_id = $1`, []any{translation}, func(scan scan) error {
		var data []byte
		if err := scan(&data); err != nil {
			return err
		}
		block, err := v.codec.block(data)
		n += int64(len(block))
		return err
	})
	return n, err
}

// ledger counts the entries of a translation.
func (v *verifier) ledger(ctx context.Context, t *verifyScope) error {
	var stored, counted struct{ n, recent, last int64 }
	if _, err := v.s.first(ctx, `SELECT changes, recent_changes, COALESCE(last_change_at, 0) FROM translations WHERE id = $1`, []any{t.id},
		&stored.n, &stored.recent, &stored.last); err != nil {
		return err
	}
	if _, err := v.s.first(ctx, `SELECT COALESCE(SUM(n), 0), COALESCE(MAX(at), 0) FROM deltas WHERE translation_id = $1`, []any{t.id},
		&counted.n, &counted.last); err != nil {
		return err
	}
	var err error
	if counted.n > 0 {
		counted.recent, err = recentChanges(ctx, v.s, t.id, counted.last)
	}
	v.seen.Changes += counted.n
	v.compare(t, "changes", stored.n, counted.n)
	v.compare(t, "last_change", stored.last, counted.last)
	v.compare(t, "recent_changes", stored.recent, counted.recent)
	return err
}

// day compares the newest day of the statistics over time with those of now;
// checks are not counted there.
func (v *verifier) day(ctx context.Context, t *verifyScope) error {
	var data sql.RawBytes
	now, _, err := translationByID(ctx, v.s, t.id)
	if err != nil {
		return err
	}
	return v.s.query(ctx, `SELECT data FROM stat_days WHERE translation_id = $1 ORDER BY day DESC LIMIT 1`, []any{t.id}, func(scan scan) error {
		if err := scan(&data); err != nil {
			return err
		}
		day, err := decodeStats(data)
		if err != nil {
			return err
		}
		for _, n := range []struct {
			what         string
			stored, then int64
		}{
			{"total", day.Stats.Total.Units, now.Stats.Total.Units},
			{"translated", day.Stats.Translated.Units, now.Stats.Translated.Units},
			{"fuzzy", day.Stats.Fuzzy.Units, now.Stats.Fuzzy.Units},
		} {
			v.compare(t, n.what+" of the newest day", n.stored, n.then)
		}
		return nil
	})
}
