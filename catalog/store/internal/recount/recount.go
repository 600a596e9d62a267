package recount

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/compared"
	"github.com/repoglot/repoglot/catalog/store/internal/history"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// Mismatch is a number in the database that differs from its recount.
type Mismatch struct {
	// Project, Component and Language name the owner of the number; levels below
	// it are "", for the whole server all of them.
	Project, Component, Language string
	// What names the number, with its name in statistics where it has one.
	What string
	// Stored and Counted differ. Times are microseconds since 1970, hashes are
	// numbers, blobs are 40 hexadecimal digits.
	Stored, Counted string
}

// String returns a line for the operator.
func (m Mismatch) String() string {
	where := cmp.Or(strings.TrimRight(m.Project+"/"+m.Component+"/"+m.Language, "/"), "the server")
	return fmt.Sprintf("%s: %s: %s is stored, %s counted", where, m.What, m.Stored, m.Counted)
}

// Verified counts what a recount has read.
type Verified struct{ Components, Translations, Units, Changes int64 }

// Run recounts everything that is kept as a sum or was derived once: the
// statistics of every translation (of inactive components, too) from its units,
// the lists of changes from the entries, words and hashes of strings from their
// texts, blob ids from the content of files. It calls each for every difference.
// It reads everything in this one transaction. Of the checks it runs long_untranslated again.
func Run(ctx context.Context, s *sqldb.Session, codec *stored.Codec, sums *history.Spans, each func(Mismatch)) (Verified, error) {
	v := verifier{codec: codec, s: s, sums: sums, each: each}
	v.run(ctx)
	return v.seen, s.Fail(ctx, "verify", v.err)
}

// A verifier compares until its first error: then it reads and reports nothing more.
type verifier struct {
	codec *stored.Codec
	s     *sqldb.Session
	sums  *history.Spans
	each  func(Mismatch)
	seen  Verified
	hash  catalog.Hasher
	fold  query.Folder
	err   error
}

// scope is the subject of a recount.
type scope struct {
	Mismatch         // What is empty
	id         int64 // of the project, component or translation
	source     int64 // the component's source translation, for a translation
	template   rows.TemplateComments
	entryTexts map[int64]int64 // of the component: see verifier.entryTexts
	removed    bool
}

// fail keeps the first error.
func (v *verifier) fail(err error) { v.err = cmp.Or(v.err, err) }

// first scans the first row, if any.
func (v *verifier) first(ctx context.Context, query string, args []any, dest ...any) (found bool) {
	if v.err == nil {
		found, v.err = v.s.First(ctx, query, args, dest...)
	}
	return found
}

// query calls each for every row.
func (v *verifier) query(ctx context.Context, query string, args []any, each func(sqldb.Scan) error) {
	if v.err == nil {
		v.err = v.s.Query(ctx, query, args, each)
	}
}

func (v *verifier) compare(where *scope, what string, stored, counted int64) {
	if stored != counted {
		v.differ(where, what, strconv.FormatInt(stored, 10), strconv.FormatInt(counted, 10))
	}
}

func (v *verifier) differ(where *scope, what, stored, counted string) {
	if v.err != nil {
		return
	}
	m := where.Mismatch
	m.What, m.Stored, m.Counted = what, stored, counted
	v.each(m)
}

// wantNoRows compares a number of rows with 0.
func (v *verifier) wantNoRows(ctx context.Context, where *scope, what, query string, args ...any) {
	var n int64
	v.first(ctx, query, args, &n)
	v.compare(where, what, n, 0)
}

func (v *verifier) run(ctx context.Context) {
	components, projects := v.scopes(ctx)
	for i := range components {
		v.component(ctx, &components[i])
	}
	for i := range projects {
		v.project(ctx, &projects[i])
	}
	v.server(ctx)
}

// scopes lists all components and projects.
func (v *verifier) scopes(ctx context.Context) (components, projects []scope) {
	v.query(ctx, `SELECT c.id, c.slug, p.slug FROM components c JOIN projects p ON p.id = c.project_id ORDER BY c.id`, nil, func(scan sqldb.Scan) error {
		var c scope
		err := scan(&c.id, &c.Component, &c.Project)
		components = append(components, c)
		return err
	})
	v.query(ctx, `SELECT id, slug FROM projects ORDER BY id`, nil, func(scan sqldb.Scan) error {
		var p scope
		err := scan(&p.id, &p.Project)
		projects = append(projects, p)
		return err
	})
	return components, projects
}

// compareSum compares a stored number with a counted one, both for the scope's id.
func (v *verifier) compareSum(ctx context.Context, where *scope, what, stored, counted string) {
	var a, b int64
	v.first(ctx, stored, []any{where.id}, &a)
	v.first(ctx, counted, []any{where.id}, &b)
	v.compare(where, what, a, b)
}

func (v *verifier) component(ctx context.Context, c *scope) {
	v.seen.Components++
	v.componentLedger(ctx, c)
	v.lagging(ctx, c)
	v.longUntranslated(ctx, c)
	source, template, err := rows.ComponentTemplate(ctx, v.s, c.id)
	v.fail(err)
	told := v.entryTexts(ctx, c.id)
	var translations []scope
	v.query(ctx, `SELECT id, language, removed FROM translations WHERE component_id = $1 ORDER BY id`, []any{c.id}, func(scan sqldb.Scan) error {
		t := scope{Mismatch: c.Mismatch, source: source, template: template, entryTexts: told}
		err := scan(&t.id, &t.Language, &t.removed)
		translations = append(translations, t)
		return err
	})
	for i := range translations {
		v.translation(ctx, &translations[i])
	}
	v.against(ctx, c, source, translations)
	v.blocks(ctx, c)
}

func (v *verifier) translation(ctx context.Context, t *scope) {
	v.seen.Translations++
	v.ledger(ctx, t)
	v.day(ctx, t)
	if !t.removed {
		v.units(ctx, t)
		v.texts(ctx, t)
		v.layout(ctx, t)
		v.file(ctx, t)
		v.rare(ctx, t)
	}
}

// rare compares the counts of properties that few units have.
func (v *verifier) rare(ctx context.Context, t *scope) {
	var comments, suggestions, counted int64
	v.first(ctx, `SELECT comments, suggestions FROM translations WHERE id = $1`, []any{t.id}, &comments, &suggestions)
	var err error
	if t.id != t.source {
		counted, err = rows.CommentCount(ctx, v.s, t.id, t.template)
		v.fail(err)
	}
	v.compare(t, "comments", comments, counted)
	counted, err = rows.SuggestionCount(ctx, v.s, t.id)
	v.fail(err)
	v.compare(t, "suggestions", suggestions, counted)
	v.wantNoRows(ctx, t, "failing checks of strings that are not there", `SELECT COUNT(*) FROM failing f LEFT JOIN units u ON u.id = f.unit_id
		WHERE f.translation_id = $1 AND (u.id IS NULL OR u.removed = 1 OR u.translation_id <> f.translation_id OR u.source_id <> f.source_id OR f.low = 0 AND f.high = 0)`,
		t.id)
	v.checkCounts(ctx, t)
	v.wantNoRows(ctx, t, "suggestions for strings that are not there, or the same", `SELECT COUNT(*) FROM suggestions n LEFT JOIN units u ON u.id = n.unit_id
		WHERE n.translation_id = $1 AND (u.id IS NULL OR u.removed = 1 AND substr(n.branch, 1, 1) <> ':' OR u.translation_id <> n.translation_id OR u.removed = 0 AND u.target = n.target)`, t.id)
}

// units counts the units of a translation.
func (v *verifier) units(ctx context.Context, t *scope) {
	var sums []string
	columns := stored.Columns(stored.Counts, "%s")
	for _, c := range stored.Counts {
		for _, of := range []string{"1", "COALESCE(s.words, 0)", "COALESCE(s.chars, 0)"} {
			sums = append(sums, `COALESCE(SUM(CASE WHEN `+c.When+` THEN `+of+` ELSE 0 END), 0)`)
		}
	}
	stored, counted := make([]int64, len(columns)), make([]int64, len(columns))
	v.numbers(ctx, `SELECT `+strings.Join(columns, ", ")+` FROM translations WHERE id = $1`, t.id, stored)
	v.numbers(ctx, `SELECT `+strings.Join(sums, ", ")+` FROM units u LEFT JOIN units s ON s.id = u.source_id
		WHERE u.translation_id = $1 AND u.removed = 0`, t.id, counted)
	for i, what := range columns {
		v.compare(t, what, stored[i], counted[i])
	}
	v.seen.Units += counted[0]
}

func (v *verifier) numbers(ctx context.Context, query string, id int64, numbers []int64) {
	v.first(ctx, query, []any{id}, catalog.Each(numbers, func(n *int64) any { return n })...)
}

// checkCounts recounts how many strings of a translation fail each check.
func (v *verifier) checkCounts(ctx context.Context, t *scope) {
	var stored, counted [128]int64
	v.query(ctx, `SELECT c.check_id, c.units FROM check_counts c JOIN translations t ON t.component_id = c.component_id AND t.id = c.translation_id WHERE c.translation_id = $1`,
		[]any{t.id}, sqldb.Cols2(func(check, n int64) { stored[check&127] += n }))
	v.query(ctx, `SELECT low, high FROM failing WHERE translation_id = $1`, []any{t.id}, sqldb.Cols2(func(low, high uint64) {
		for i, half := range [2]uint64{low, high} {
			for rest := half; rest != 0; rest &= rest - 1 {
				counted[i*64+bits.TrailingZeros64(rest)]++
			}
		}
	}))
	for check := range counted {
		v.compare(t, fmt.Sprintf("strings that fail check %d", check), stored[check], counted[check])
	}
}

// memberSum counts the members of groups. Equal sets of members have equal sums.
type memberSum struct{ n, sum int64 }

func (m *memberSum) add(c *compared.Member) {
	m.n++
	m.sum += catalog.Sum(fmt.Sprint(c.Key, c.Value, c.Unit))
}

// compared verifies the groups of strings of a project: the scope of every
// translation, and the members of every group.
func (v *verifier) compared(ctx context.Context, p *scope) {
	v.wantNoRows(ctx, p, "translations compared with others of another kind", `SELECT COUNT(*) FROM components c JOIN translations t ON t.component_id = c.id
		LEFT JOIN compared_scopes s ON s.id = t.scope_id
		WHERE c.project_id = $1 AND t.scope_id <> 0 AND (s.id IS NULL OR s.project_id <> c.project_id OR s.plural_number <> t.plural_number OR t.removed = 1 OR t.checked = '')`, p.id)
	v.wantNoRows(ctx, p, "sole translations that are not", `SELECT COUNT(*) FROM compared_scopes s WHERE s.project_id = $1 AND s.sole_id <> 0
		AND (SELECT COUNT(*) FROM translations t WHERE t.scope_id = s.id AND t.id = s.sole_id) <> (SELECT COUNT(*) FROM translations t WHERE t.scope_id = s.id)`, p.id)
	var scopes []compared.Scope
	v.query(ctx, `SELECT id, plural_number, sole_id FROM compared_scopes WHERE project_id = $1 ORDER BY id`, []any{p.id},
		sqldb.Cols3(func(id int64, forms int, sole int64) {
			scopes = append(scopes, compared.Scope{ID: id, PluralNumber: forms, Sole: sole})
		}))
	for i := range scopes {
		v.groups(ctx, p, &scopes[i])
	}
}

// groups verifies the members of the groups of a scope.
func (v *verifier) groups(ctx context.Context, p *scope, s *compared.Scope) {
	var stored, counted memberSum
	v.query(ctx, `SELECT key, value, unit_id FROM compared_units WHERE scope_id = $1`, []any{s.ID},
		sqldb.Cols3(func(key, value, unit int64) { stored.add(&compared.Member{Key: key, Value: value, Unit: unit}) }))
	var u catalog.Unit
	var state int64
	v.query(ctx, `SELECT u.id, u.id_key, u.target, u.state, COALESCE(o.source, '') FROM translations t JOIN units u ON u.translation_id = t.id
		LEFT JOIN units o ON o.id = u.source_id WHERE t.scope_id = $1 AND u.removed = 0`, []any{s.ID}, func(scan sqldb.Scan) error {
		err := scan(&u.ID, &u.Identity.Key, &u.Target, &state, &u.Source)
		u.State = catalog.State(state)
		for c := range s.Members(&v.hash, &u) {
			counted.add(&c)
		}
		return err
	})
	v.compare(p, fmt.Sprintf("members of groups of strings in scope %d", s.ID), stored.n, counted.n)
	if stored.n == counted.n {
		v.compare(p, fmt.Sprintf("sum of the members of groups of strings in scope %d", s.ID), stored.sum, counted.sum)
	}
}
