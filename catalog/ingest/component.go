package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// component is one component during a pull.
type component struct {
	row       store.BranchComponent
	selection selection
	rules     unit.Rules
	// files are the files that the component reads at the commit last applied,
	// sorted by path.
	files []object.File
	// reread makes the next step read every file, whatever its blob.
	reread bool
	// retry makes the next step read again the files that could not be read.
	retry bool
	// leapt says, from then on, why a replay did not reach the head commit by commit.
	leapt string
	// applied says that files lists the files of the component's commit.
	applied bool
	// matchesNothing says that the filemask selects no file.
	matchesNothing bool

	// What is stored: loaded in the first step that touches the component, and kept
	// up to date by the later steps of the pull.
	translations map[string]*catalog.Translation // by language; removed ones too
	problems     map[string]store.Problem        // by path
	union        *union                          // of the source translation
	seen         []catalog.Seen                  // memory for comparisons
	repeats      map[string]int                  // entries that repeat earlier ones, of the files read, by path
	slots        fileSlots                       // of the paths that were assigned last
	assigned     []object.File

	plurals map[pluralKey]lang.Plural // rules that were made of headers
}

// pluralKey is what a plural rule is made of.
type pluralKey struct {
	language, formula string
	number            int
}

// maxPluralRules bounds the rules that are remembered; a hostile history may have any
// number.
const maxPluralRules = 1 << 10

// setPluralRule sets the plural rule of a translation: the Plural-Forms of its
// file, else the rule of the language (docs/compatibility.md#plurals). It remembers rules,
// since lang.PluralFor compares samples of two formulas.
func (c *component) setPluralRule(t *catalog.Translation, l lang.Language, f *unit.File) {
	t.PluralNumber, t.PluralFormula = l.Plural.Number, l.Plural.Formula
	if f == nil || !f.HasPlural {
		return
	}
	key := pluralKey{l.Code, f.Plural.Expression, f.Plural.Number}
	rule, ok := c.plurals[key]
	if !ok {
		if c.plurals == nil || len(c.plurals) == maxPluralRules {
			c.plurals = make(map[pluralKey]lang.Plural)
		}
		key.formula = strings.Clone(key.formula) // not the whole header
		rule = lang.PluralFor(l, f.Plural.Number, key.formula)
		c.plurals[key] = rule
	}
	t.PluralNumber, t.PluralFormula = rule.Number, rule.Formula
}

func newComponent(row store.BranchComponent, table *lang.Table) (*component, error) {
	selection, err := newSelection(&row.Settings, table)
	if err != nil {
		return nil, err
	}
	return &component{
		row:       row,
		selection: selection,
		rules:     unit.NewRules(row.Settings.CheckFlags, lang.IsCJK(selection.source.Code)),
		reread:    row.Reread || !row.Imported && row.Head == "",
	}, nil
}

func (c *component) name() string { return c.row.Project.Slug + "/" + c.row.Slug }

// selects reports whether the mask selects one of the component's files, not
// counting the template.
func (c *component) selects() bool {
	return slices.ContainsFunc(c.files, func(f object.File) bool { return f.Path != c.selection.newBase })
}

// noFiles is the problem of a mask that selects no file.
func noFiles(mask, branch string) string {
	return fmt.Sprintf("the filemask %s matches no file of branch %s: correct filemask or branch", mask, branch)
}

// touchedBy reports whether a change of a step concerns the component.
func (c *component) touchedBy(changes []gitsource.Change) bool {
	return slices.ContainsFunc(changes, func(ch gitsource.Change) bool { return c.selection.lists(ch.Path) })
}

// advance applies the changes of a step to the list of files.
func (c *component) advance(changes []gitsource.Change) {
	for _, ch := range changes {
		if !c.selection.lists(ch.Path) {
			continue
		}
		i, found := c.find(ch.Path)
		switch {
		case ch.New.IsZero() && found:
			c.files = slices.Delete(c.files, i, i+1)
		case ch.New.IsZero():
		case found:
			c.files[i].Blob = ch.New
		default:
			c.files = slices.Insert(c.files, i, object.File{Path: ch.Path, Blob: ch.New})
		}
	}
}

// has reports whether the commit has a file at a path that the component reads.
func (c *component) has(path string) bool {
	_, found := c.find(path)
	return found
}

func (c *component) find(path string) (int, bool) {
	return slices.BinarySearchFunc(c.files, path, func(f object.File, p string) int { return strings.Compare(f.Path, p) })
}

// assign is selection.assign. Most commits have the paths of the one before.
func (c *component) assign(files []object.File) fileSlots {
	samePath := func(a, b object.File) bool { return a.Path == b.Path }
	if !slices.EqualFunc(files, c.assigned, samePath) {
		c.slots, c.assigned = c.selection.assign(files), slices.Clone(files)
	}
	p := fileSlots{targets: slices.Clone(c.slots.targets), refused: c.slots.refused}
	next := 0
	for _, f := range files {
		switch {
		case c.slots.source != nil && c.slots.source.path == f.Path:
			source := *c.slots.source
			source.blob, p.source = f.Blob, &source
		case next < len(p.targets) && p.targets[next].path == f.Path:
			p.targets[next].blob = f.Blob
			next++
		}
	}
	return p
}

// isStored reports whether anything of the component is stored, even if only the
// beginning of its history. Differences from it make entries.
func (c *component) isStored() bool { return c.row.Imported || !c.row.ImportAt.IsZero() }

func (c *component) load(ctx context.Context, tx stepStore) error {
	if c.translations != nil {
		return nil
	}
	rows, err := tx.Translations(ctx, c.row.ID)
	if err != nil {
		return err
	}
	problems, err := tx.Problems(ctx, c.row.ID)
	if err != nil {
		return err
	}
	c.translations = make(map[string]*catalog.Translation, len(rows))
	for i := range rows {
		if row := &rows[i]; row.IsSource && row.Language != c.selection.source.Code {
			c.translations = nil
			return fmt.Errorf("source_language cannot change from %s to %s after the import: give the component another slug: %w",
				row.Language, c.selection.source.Code, catalog.ErrInvalid)
		}
		c.translations[rows[i].Language] = &rows[i]
	}
	c.setProblems(problems)
	return nil
}

func (c *component) setProblems(list []store.Problem) {
	c.problems = make(map[string]store.Problem, len(list))
	for _, p := range list {
		c.problems[p.Path] = p
	}
}

func (c *component) forget() {
	c.translations, c.problems = nil, nil
	c.dropUnion()
}

// dropUnion frees what the component remembers of its source translation.
func (c *component) dropUnion() {
	if c.union != nil {
		c.union.drop()
		c.union = nil
	}
}

// problemsList renders the component's problems for a report, by path. It returns
// nil if they were not read.
func (c *component) problemsList() []string {
	if c.problems == nil {
		return nil
	}
	list := make([]string, 0, len(c.problems))
	for _, p := range c.problems {
		list = append(list, problemText(p))
	}
	slices.Sort(list)
	return list
}

func problemText(p store.Problem) string {
	if p.Line == 0 {
		return p.Path + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.Path, p.Line, p.Column, p.Message)
}

// fault returns the *fileError in err, or nil.
func fault(err error) *fileError {
	bad, _ := errors.AsType[*fileError](err)
	return bad
}
