package lang

import (
	"cmp"
	"embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// dataFiles includes the licence, so that the binary has it.
//
//go:embed data/*.csv data/LICENSE
var dataFiles embed.FS

// New reads the table that is built into the program. An error names the file and row,
// and means that the program was built from broken data.
func New() (*Table, error) {
	t, err := load(dataFiles)
	if err != nil {
		return nil, fmt.Errorf("language table: %w", err)
	}
	return t, nil
}

// load makes a table from the files of data/.
func load(files fs.FS) (*Table, error) {
	t := &Table{
		byCode:  map[string]int{},
		byFold:  map[string]int{},
		byAlias: map[string]int{},
		byName:  map[string]int{},
	}
	var err error
	if t.rtl, err = readMap(files, "rtl.csv", 1); err != nil {
		return nil, err
	}
	if t.defaults, err = readMap(files, "default_countries.csv", 1); err != nil {
		return nil, err
	}
	types, err := loadTypes(files)
	if err != nil {
		return nil, err
	}
	if err := t.loadLanguages(files, types); err != nil {
		return nil, err
	}
	return t, t.loadAliases(files)
}

// loadLanguages fills langs and the indexes by code and name.
func (t *Table) loadLanguages(files fs.FS, types *typeTable) error {
	rows, err := readCSV(files, "languages.csv", 4)
	if err != nil {
		return err
	}
	names, err := readMap(files, "recorded-names.csv", 2)
	if err != nil {
		return err
	}
	people, err := readMap(files, "population.csv", 2)
	if err != nil {
		return err
	}
	for _, row := range rows {
		code := row[0]
		spoken := 0
		if n, ok := people[code]; ok {
			if spoken, err = strconv.Atoi(n); err != nil {
				return fmt.Errorf("population.csv: %s: bad number %q", code, n)
			}
		}
		number, err := strconv.Atoi(row[2])
		if err != nil || number < 1 || number > MaxForms {
			return fmt.Errorf("languages.csv: %s: bad number of plurals %q", code, row[2])
		}
		t.langs = append(t.langs, Language{
			Code:      code,
			Name:      cmp.Or(names[code], row[1]),
			Direction: direction(t.rtl, code),
			Aliases:   []string{},

			Population: spoken,
			Plural: Plural{
				ID:      stableID(code),
				Source:  SourceDefault,
				Number:  number,
				Formula: row[3],
				Type:    types.typeOf(code, row[3]),
			},
		})
	}
	slices.SortFunc(t.langs, func(a, b Language) int { return cmp.Compare(a.Code, b.Code) })
	return t.index()
}

// index fills the maps over langs. It returns an error for codes or names that would
// hide one another.
func (t *Table) index() error {
	for i, l := range t.langs {
		if j, ok := t.byFold[fold(l.Code)]; ok {
			return fmt.Errorf("languages.csv: codes %q and %q differ only in case or separator", t.langs[j].Code, l.Code)
		}
		if j, ok := t.byName[strings.ToLower(l.Name)]; ok {
			return fmt.Errorf("languages.csv: %q and %q have the same name %q", t.langs[j].Code, l.Code, l.Name)
		}
		t.byCode[l.Code] = i
		t.byFold[fold(l.Code)] = i
		t.byName[strings.ToLower(l.Name)] = i
		t.longest = max(t.longest, len(l.Code), len(l.Name))
	}
	return nil
}

// loadAliases fills the languages' aliases in file order. A row whose first column is
// "#" is a comment.
func (t *Table) loadAliases(files fs.FS) error {
	rows, err := readCSV(files, "aliases.csv", 2)
	if err != nil {
		return err
	}
	for _, row := range rows {
		alias, code := row[0], row[1]
		if alias == "#" {
			continue
		}
		i, ok := t.byCode[code]
		if !ok {
			return fmt.Errorf("aliases.csv: alias %q of the unknown language %q", alias, code)
		}
		if j, ok := t.byAlias[fold(alias)]; ok && j != i {
			return fmt.Errorf("aliases.csv: alias %q of both %q and %q", alias, t.langs[j].Code, code)
		}
		t.byAlias[fold(alias)] = i
		t.longest = max(t.longest, len(alias))
		t.langs[i].Aliases = append(t.langs[i].Aliases, alias)
	}
	for i := range t.langs {
		t.langs[i].Aliases = slices.Clip(t.langs[i].Aliases)
	}
	return nil
}

// readMap reads the second column of a file by the first one; it is "" in a file that has
// only one.
func readMap(files fs.FS, name string, columns int) (map[string]string, error) {
	rows, err := readCSV(files, name, columns)
	values := make(map[string]string, len(rows))
	for _, row := range rows {
		values[row[0]] = append(row, "")[1]
	}
	return values, err
}

// readCSV reads a file without its header row. Every row must have at least the given
// number of columns.
func readCSV(files fs.FS, name string, columns int) ([][]string, error) {
	f, err := files.Open("data/" + name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("%s: no rows", name)
	}
	rows = rows[1:]
	for i, row := range rows {
		if len(row) < columns {
			return nil, fmt.Errorf("%s: row %d has %d columns, want %d", name, i+2, len(row), columns)
		}
	}
	return rows, nil
}
