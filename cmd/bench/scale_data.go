package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/catalog/store/pgserver"
	"github.com/repoglot/repoglot/testrepos"
)

// scaleProject is a project with 250,000 strings in 100 components, and a million
// entries.
var scaleProject = testrepos.Project{Components: 100, Languages: 4, Strings: 500, Shared: 20, Templates: 3000, Edits: 42000, Seed: 1}

// Copies of scaleProject.
const (
	scaleTenth = 2
	scaleWhole = 20
)

// scaleSchema is the schema of a number of copies.
func scaleSchema(copies int) string { return fmt.Sprintf("bench_scale_%d", copies) }

// scaleNewest is the tag of the last commit.
const scaleNewest = "newest"

// unitBits is the width of the number of a unit, or of a delta, below that of its
// component.
const unitBits = 28

// shifts says, by the name of a column, what is added to it in the k-th copy; id is the
// column of the table that is copied.
type shifts map[string]string

// copier copies the rows of a project that was imported to other schemas, with ids of
// its own for each copy.
type copier struct {
	conn *pgx.Conn
	from string
	// Of the project that is copied: its newest ids.
	component, translation, scope, change int64
	columns                               map[string][]string // by table
	copies                                int64
}

// newCopier looks at a schema.
func newCopier(ctx context.Context, address, from string, copies int) (*copier, error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	c := &copier{conn: conn, from: from, copies: int64(copies), columns: map[string][]string{}}
	row := conn.QueryRow(ctx, strings.ReplaceAll(`SELECT (SELECT MAX(id) FROM @.components), (SELECT MAX(id) FROM @.translations),
		(SELECT MAX(id) FROM @.compared_scopes), (SELECT last_change FROM @.clock)`, "@", from))
	if err := row.Scan(&c.component, &c.translation, &c.scope, &c.change); err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1, ordinal_position`, from)
	if err != nil {
		return nil, err
	}
	var table, column string
	_, err = pgx.ForEachRow(rows, []any{&table, &column}, func() error {
		c.columns[table] = append(c.columns[table], column)
		return nil
	})
	return c, err
}

// copied are the tables that have rows of a project, in the order of their references.
var copied = []string{
	"projects", "components", "translations", "units", "layouts", "deltas", "changes", "files", "stat_days", "failing", "behind",
	"occurrences", "shared_strings", "repeats", "compared_scopes", "compared_units", "check_counts",
}

// shifts of the k-th copy; the first one is 0.
func (c *copier) shifts(k int64) shifts {
	unit := fmt.Sprintf("%%s + %d", k*c.component<<unitBits)
	component, translation := fmt.Sprintf("%%s + %d", k*c.component), fmt.Sprintf("%%s + %d", k*c.translation)
	scope := fmt.Sprintf("%%[1]s + sign(%%[1]s) * %d", k*c.scope)
	name := fmt.Sprintf("replace(%%s, '%s', '%s')", scaleSlug(0), scaleSlug(k))
	repo := fmt.Sprintf("replace(%%s, '%s', '%s')", scaleRepository("", 1, 0), scaleRepository("", c.copies, k))
	return shifts{
		"projects.id": fmt.Sprintf("%%s + %d", k), "project_id": fmt.Sprintf("%%s + %d", k), "projects.slug": name, "projects.settings": name,
		"components.id": component, "component_id": component, "components.repo": repo,
		"translations.id": translation, "translation_id": translation, "sole_id": fmt.Sprintf("%%[1]s + sign(%%[1]s) * %d", k*c.translation),
		"units.id": unit, "unit_id": unit, "source_id": unit, "deltas.id": unit, "delta_id": unit,
		"compared_scopes.id": scope, "scope_id": scope,
		"first_change": fmt.Sprintf("%%s + %d", k*c.change),
	}
}

// scaleSlug is the slug of the k-th copy's project, and in the name of its repository.
func scaleSlug(k int64) string { return fmt.Sprintf("p%02d", k) }

// fill copies the project as often into a schema that has no rows yet.
func (c *copier) fill(ctx context.Context, to string) error {
	for _, table := range []string{"users", "clock"} {
		if _, err := c.conn.Exec(ctx, strings.NewReplacer("@to", to+"."+table, "@from", c.from+"."+table).Replace("DELETE FROM @to; INSERT INTO @to SELECT * FROM @from")); err != nil {
			return err
		}
	}
	for k := range c.copies {
		for _, table := range copied {
			if err := c.copyRows(ctx, to, table, k); err != nil {
				return fmt.Errorf("copy %d of %s: %w", k, table, err)
			}
		}
	}
	_, err := c.conn.Exec(ctx, fmt.Sprintf("UPDATE %s.clock SET last_change = %d", to, c.copies*c.change))
	if err != nil {
		return err
	}
	for _, table := range copied {
		if _, err := c.conn.Exec(ctx, "VACUUM ANALYZE "+to+"."+table); err != nil {
			return err
		}
	}
	return nil
}

// copyRows copies one table.
func (c *copier) copyRows(ctx context.Context, to, table string, k int64) error {
	if table == "layouts" {
		return c.copyLayouts(ctx, to, k)
	}
	shifts := c.shifts(k)
	var values []string
	for _, column := range c.columns[table] {
		shift, ok := shifts[table+"."+column]
		if !ok && column != "id" {
			shift, ok = shifts[column]
		}
		if ok {
			column = fmt.Sprintf(shift, column)
		}
		values = append(values, column)
	}
	_, err := c.conn.Exec(ctx, fmt.Sprintf("INSERT INTO %s.%s (%s) SELECT %s FROM %s.%[2]s", to, table, strings.Join(c.columns[table], ", "), strings.Join(values, ", "), c.from))
	return err
}

// copyLayouts copies the blocks of lists, which begin with the id of a unit.
func (c *copier) copyLayouts(ctx context.Context, to string, k int64) error {
	rows, err := c.conn.Query(ctx, fmt.Sprintf("SELECT translation_id, block, first_unit, data FROM %s.layouts", c.from))
	if err != nil {
		return err
	}
	type layout struct {
		Translation int64
		Block       int32
		First       int64
		Data        []byte
	}
	layouts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[layout])
	if err != nil {
		return err
	}
	shift := k * c.component << unitBits
	_, err = c.conn.CopyFrom(ctx, pgx.Identifier{to, "layouts"}, []string{"translation_id", "block", "first_unit", "data"},
		pgx.CopyFromSlice(len(layouts), func(i int) ([]any, error) {
			l := layouts[i]
			data, err := shiftBlock(l.Data, shift)
			return []any{l.Translation + k*c.translation, l.Block, l.First + shift, data}, err
		}))
	return err
}

// shiftBlock adds to all ids of a block: it has their number, then the first of them,
// then differences.
func shiftBlock(data []byte, shift int64) ([]byte, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	raw, err := dec.DecodeAll(data, nil)
	if err != nil {
		return nil, err
	}
	n, size := binary.Uvarint(raw)
	first, more := binary.Varint(raw[size:])
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	shifted := binary.AppendVarint(binary.AppendUvarint(nil, n), first+shift)
	return enc.EncodeAll(append(shifted, raw[size+more:]...), nil), enc.Close()
}

// scaleRepository is the path of the repository of the k-th of a number of copies.
func scaleRepository(dir string, copies, k int64) string {
	return filepath.Join(dir, scaleSchema(int(copies)), scaleSlug(k)+".git")
}

// scaleRepositories makes the repositories of a number of copies, unless they are
// there. Their last commits are not on the branch yet.
func (b *bench) scaleRepositories(ctx context.Context, dir string, copies int64) error {
	const left = 60
	first := scaleRepository(dir, 1, 0)
	for k := range copies {
		repo := scaleRepository(dir, copies, k)
		if _, err := os.Stat(repo); err == nil {
			continue
		}
		if repo != first {
			if _, err := git(ctx, "clone", "--quiet", "--bare", first, repo); err != nil {
				return err
			}
			continue
		}
		if _, err := b.makeProject(ctx, first, scaleProject); err != nil {
			return err
		}
		if _, err := git(ctx, "-C", first, "tag", scaleNewest); err != nil {
			return err
		}
		if _, err := git(ctx, "-C", first, "update-ref", "HEAD", fmt.Sprintf("HEAD~%d", left)); err != nil {
			return err
		}
	}
	return nil
}

// writeScale writes the configuration of a number of copies in a schema.
func (b *bench) writeScale(dir, address string, copies int, schema string) (config string, err error) {
	dsn, err := pgserver.Schema(address, schema)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("database: %q\ndata_dir: ./data-%d\ngit: builtin\nresponse_cache: 0\npoll_interval: 0\nprojects:\n", dsn, copies)
	for k := range int64(copies) {
		text += fmt.Sprintf("  - slug: %[1]s\n    name: Bench\n    components:\n      - {slug: \"{component}\", repo: %s, history: full, filemask: \"{component}/*.po\", new_base: \"{component}/messages.pot\"}\n", scaleSlug(k), scaleRepository(dir, int64(copies), k))
	}
	config = filepath.Join(dir, schema+".yaml")
	return config, os.WriteFile(config, []byte(text), 0o644)
}
