package recount

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
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
	where := strings.TrimRight(m.Project+"/"+m.Component+"/"+m.Language, "/")
	if where == "" {
		where = "the server"
	}
	return fmt.Sprintf("%s: %s: %s is stored, %s counted", where, m.What, m.Stored, m.Counted)
}

// Verified counts what a recount has read.
type Verified struct{ Components, Translations, Units, Changes int64 }

// Run recounts everything that is kept as a sum or was derived once: the
// statistics of every translation (of inactive components, too) from its units,
// the lists of changes from the entries, words and hashes of strings from their
// texts, blob ids from the content of files. It calls each for every difference.
// It reads everything in this one transaction. Of the checks it runs long_untranslated again.
func Run(ctx context.Context, s *sqldb.Session, codec *stored.Codec, each func(Mismatch)) (Verified, error) {
	v := verifier{codec: codec, s: s, each: each}
	err := v.run(ctx)
	return v.seen, s.Fail(ctx, "verify", err)
}

type verifier struct {
	codec *stored.Codec
	s     *sqldb.Session
	each  func(Mismatch)
	seen  Verified
	hash  catalog.Hasher
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

func (v *verifier) compare(where *scope, what string, stored, counted int64) {
	if stored != counted {
		v.differ(where, what, strconv.FormatInt(stored, 10), strconv.FormatInt(counted, 10))
	}
}

func (v *verifier) differ(where *scope, what, stored, counted string) {
	m := where.Mismatch
	m.What, m.Stored, m.Counted = what, stored, counted
	v.each(m)
}

// wantNoRows compares a number of rows with 0.
func (v *verifier) wantNoRows(ctx context.Context, where *scope, what, query string, args ...any) error {
	var n int64
	_, err := v.s.First(ctx, query, args, &n)
	v.compare(where, what, n, 0)
	return err
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
		if err := v.project(ctx, &projects[i]); err != nil {
			return err
		}
	}
	if err := v.journal(ctx); err != nil {
		return err
	}
	return v.server(ctx)
}

// scopes lists all components and projects.
func (v *verifier) scopes(ctx context.Context) (components, projects []scope, err error) {
	err = v.s.Query(ctx, `SELECT c.id, c.slug, p.slug FROM components c JOIN projects p ON p.id = c.project_id ORDER BY c.id`, nil, func(scan sqldb.Scan) error {
		var c scope
		err := scan(&c.id, &c.Component, &c.Project)
		components = append(components, c)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	err = v.s.Query(ctx, `SELECT id, slug FROM projects ORDER BY id`, nil, func(scan sqldb.Scan) error {
		var p scope
		err := scan(&p.id, &p.Project)
		projects = append(projects, p)
		return err
	})
	return components, projects, err
}

// compareSum compares a stored number with a counted one, both for the scope's id.
func (v *verifier) compareSum(ctx context.Context, where *scope, what, stored, counted string) error {
	var a, b int64
	if _, err := v.s.First(ctx, stored, []any{where.id}, &a); err != nil {
		return err
	}
	if _, err := v.s.First(ctx, counted, []any{where.id}, &b); err != nil {
		return err
	}
	v.compare(where, what, a, b)
	return nil
}

func (v *verifier) component(ctx context.Context, c *scope) error {
	v.seen.Components++
	if err := v.componentLedger(ctx, c); err != nil {
		return err
	}
	if err := v.lagging(ctx, c); err != nil {
		return err
	}
	if err := v.longUntranslated(ctx, c); err != nil {
		return err
	}
	source, template, err := rows.ComponentTemplate(ctx, v.s, c.id)
	if err != nil {
		return err
	}
	told, err := v.entryTexts(ctx, c.id)
	if err != nil {
		return err
	}
	var translations []scope
	err = v.s.Query(ctx, `SELECT id, language, removed FROM translations WHERE component_id = $1 ORDER BY id`, []any{c.id}, func(scan sqldb.Scan) error {
		t := scope{Mismatch: c.Mismatch, source: source, template: template, entryTexts: told}
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
	return v.against(ctx, c, source, translations)
}

func (v *verifier) translation(ctx context.Context, t *scope) error {
	v.seen.Translations++
	parts := []func(context.Context, *scope) error{v.ledger, v.day}
	if !t.removed {
		parts = append(parts, v.units, v.texts, v.layout, v.file, v.rare)
	}
	for _, part := range parts {
		if err := part(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// rareCounts are the counts of properties that few units have, by column.
var rareCounts = []struct {
	stored string
	count  func(ctx context.Context, s *sqldb.Session, t *scope) (int64, error)
}{
	{"comments", func(ctx context.Context, s *sqldb.Session, t *scope) (int64, error) {
		if t.id == t.source {
			return 0, nil
		}
		return rows.CommentCount(ctx, s, t.id, t.template)
	}},
	{"suggestions", func(ctx context.Context, s *sqldb.Session, t *scope) (int64, error) {
		return rows.SuggestionCount(ctx, s, t.id)
	}},
}

// rare compares the counts of properties that few units have.
func (v *verifier) rare(ctx context.Context, t *scope) error {
	for _, c := range rareCounts {
		var stored int64
		if _, err := v.s.First(ctx, `SELECT `+c.stored+` FROM translations WHERE id = $1`, []any{t.id}, &stored); err != nil {
			return err
		}
		counted, err := c.count(ctx, v.s, t)
		if err != nil {
			return err
		}
		v.compare(t, c.stored, stored, counted)
	}
	if err := v.wantNoRows(ctx, t, "failing checks of strings that are not there", `SELECT COUNT(*) FROM failing f LEFT JOIN units u ON u.id = f.unit_id
		WHERE f.translation_id = $1 AND (u.id IS NULL OR u.removed = 1 OR u.translation_id <> f.translation_id OR u.source_id <> f.source_id OR f.low = 0 AND f.high = 0)`,
		t.id); err != nil {
		return err
	}
	if err := v.checkCounts(ctx, t); err != nil {
		return err
	}
	return v.wantNoRows(ctx, t, "suggestions for strings that are not there, or the same", `SELECT COUNT(*) FROM suggestions n LEFT JOIN units u ON u.id = n.unit_id
		WHERE n.translation_id = $1 AND (u.id IS NULL OR u.removed = 1 AND substr(n.branch, 1, 1) <> ':' OR u.translation_id <> n.translation_id OR u.removed = 0 AND u.target = n.target)`, t.id)
}

// units counts the units of a translation.
func (v *verifier) units(ctx context.Context, t *scope) error {
	var sums []string
	columns := stored.Columns(stored.Counts, "%s")
	for _, c := range stored.Counts {
		for _, of := range []string{"1", "COALESCE(s.words, 0)", "COALESCE(s.chars, 0)"} {
			sums = append(sums, `COALESCE(SUM(CASE WHEN `+c.When+` THEN `+of+` ELSE 0 END), 0)`)
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
	return nil
}

func (v *verifier) numbers(ctx context.Context, query string, id int64, numbers []int64) error {
	dest := make([]any, len(numbers))
	for i := range dest {
		dest[i] = &numbers[i]
	}
	_, err := v.s.First(ctx, query, []any{id}, dest...)
	return err
}

// checkCounts recounts how many strings of a translation fail each check.
func (v *verifier) checkCounts(ctx context.Context, t *scope) error {
	var stored, counted [128]int64
	err := v.s.Query(ctx, `SELECT c.check_id, c.units FROM check_counts c JOIN translations t ON t.component_id = c.component_id AND t.id = c.translation_id WHERE c.translation_id = $1`,
		[]any{t.id}, func(scan sqldb.Scan) error {
			var check, n int64
			err := scan(&check, &n)
			stored[check&127] += n
			return err
		})
	if err != nil {
		return err
	}
	err = v.s.Query(ctx, `SELECT low, high FROM failing WHERE translation_id = $1`, []any{t.id}, func(scan sqldb.Scan) error {
		var halves [2]int64
		err := scan(&halves[0], &halves[1])
		for i, half := range halves {
			for rest := uint64(half); rest != 0; rest &= rest - 1 {
				counted[i*64+bits.TrailingZeros64(rest)]++
			}
		}
		return err
	})
	for check := range counted {
		v.compare(t, fmt.Sprintf("strings that fail check %d", check), stored[check], counted[check])
	}
	return err
}
