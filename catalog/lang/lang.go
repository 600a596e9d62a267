// Package lang knows the languages: codes, English names, writing direction,
// aliases and plural rules, and which language a file's code means.
//
// Goals: answer as Weblate does (docs/compatibility.md#languages and
// docs/compatibility.md#plurals), from data that is built into the binary, for any
// code that a file name can have. Every answer is a pure function of its arguments.
//
// Non-goals: it does not find the code in a path (the filemask does), does not decide
// which of two files of one language counts (the import does), and keeps no state: a
// [Table] never changes.
//
// The files in data/ come from https://github.com/WeblateOrg/language-data, MIT, see
// data/LICENSE. plural-types.csv was computed from them. recorded-names.csv has the
// names that a Weblate was recorded with, where language-data now has another one.
//
// Plural formulas are evaluated by a parser of our own: gotext's ends a condition of
// Breton's formula at the wrong parenthesis, panics on n%0, which a translator can write
// into a header, and starts goroutines while it parses (TestGotextIsWrong).
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
	"unicode"
	"unicode/utf8"
)

// The directions of writing, as the API has them.
const (
	// LeftToRight is the direction of most languages.
	LeftToRight = "ltr"
	// RightToLeft is the direction of Arabic, Hebrew and others.
	RightToLeft = "rtl"
)

// undetermined is the language of an empty code.
const undetermined = "und"

// Language is one language as the API's language object shows it. The zero
// value is no language.
type Language struct {
	// Code is the code in URLs, such as "pt_BR". This package never returns an
	// empty one.
	Code string
	// Name is the English name, such as "Portuguese (Brazil)".
	Name string
	// Direction is [LeftToRight] or [RightToLeft].
	Direction string
	// Aliases are other codes for the language in the order of the file
	// aliases.csv, never nil. The slice is shared: do not modify it.
	Aliases []string
	// Population is the number of people who speak the language; 0 if unknown.
	Population int
	// Plural is the language's default plural rule (source 0).
	Plural Plural
}

// Table is the language table. It is immutable and safe for concurrent use;
// make it with [New].
type Table struct {
	langs    []Language        // sorted by code
	byCode   map[string]int    // exact code → index in langs
	byFold   map[string]int    // fold(code) → index in langs
	byAlias  map[string]int    // fold(alias) → index in langs
	byName   map[string]int    // lower-case English name → index in langs
	defaults map[string]string // folded "ll_cc" where cc is ll's default country
	rtl      map[string]string // codes written from right to left
	longest  int               // bytes of the longest code, alias or name
}

// All are the languages by code. The slice is shared: do not modify it.
func (t *Table) All() []Language { return t.langs }

// ByCode returns the language with exactly this code. It returns false for other
// spellings and for aliases; see [Table.Lookup].
func (t *Table) ByCode(code string) (Language, bool) {
	i, ok := t.byCode[code]
	if !ok {
		return Language{}, false
	}
	return t.langs[i], true
}

// Lookup returns the language for a code in a URL: its exact code, the same in other
// case or with '-' or '+' for '_', or an alias. It returns false for an unknown code.
func (t *Table) Lookup(code string) (Language, bool) {
	i, ok := t.lookup(code)
	if !ok {
		return Language{}, false
	}
	return t.langs[i], true
}

// lookup is Lookup and returns an index. Exact codes come first. New checks that no two
// codes have the same folded form.
func (t *Table) lookup(code string) (int, bool) {
	if i, ok := t.byCode[code]; ok {
		return i, true
	}
	key := fold(code)
	if i, ok := t.byFold[key]; ok {
		return i, true
	}
	i, ok := t.byAlias[key]
	return i, ok
}

// fold returns one key for all spellings of a code: lower case, with '_' for the '-' of
// BCP 47 and the '+' of Android.
func fold(code string) string { return separators.Replace(strings.ToLower(code)) }

// separators is immutable and safe for concurrent use.
var separators = strings.NewReplacer("-", "_", "+", "_")

// codeSeparators end the base of a code: country and script (ll_CC, ll-CC,
// b+ll+CC), modifier (ll@formal), and the charset of a POSIX locale name
// (ll_CC.UTF-8).
const codeSeparators = "_-+@."

// BaseCode returns the language part of a code, in lower case: "pt" of
// "pt_BR", "sr" of "sr@latin". A code without separators is its own base.
func BaseCode(code string) string {
	if i := strings.IndexAny(code, codeSeparators); i >= 0 {
		code = code[:i]
	}
	return strings.ToLower(code)
}

// IsCJK reports whether words of the language are counted by characters: its base
// code is ja, zh or ko (docs/compatibility.md#words).
func IsCJK(code string) bool { return slices.Contains([]string{"ja", "zh", "ko"}, BaseCode(code)) }

// Match returns the language of a file's code (docs/compatibility.md#languages). It
// looks for the sanitised code exactly, without regard to case, with '-' and '+' as
// '_', as an alias, as an English name, as four letters xxYY, and without the
// language's default country (cs_CZ is cs).
//
// An unknown code is a language of its own. It has name, direction and plural of its
// base, the longest known code before a separator. Without a base it is named
// "<code> (generated)" and has two forms `n != 1`. A code that is empty after
// sanitising is "und", the undetermined language.
//
// Two steps differ from Weblate on purpose. Aliases come before names, so that the
// ISO 639 codes dan and mon are Danish and Mongolian, as in the alias lists, and not
// the languages named Dan and Mon; no other code is affected. And the table's codes
// are folded, so that sv_FI is its sv-FI.
func (t *Table) Match(code string) Language {
	code = sanitize(code)
	code = cmp.Or(code, undetermined)
	if i, ok := t.find(code); ok {
		return t.langs[i]
	}
	return t.generate(code)
}

// Variant returns the language object of a second file of one language: the file's own
// code, with name, direction and plural rule of base. It has no aliases, and its plural
// has its own id. For an empty file code it returns base.
func (t *Table) Variant(fileCode string, base Language) Language {
	if fileCode == "" {
		return base
	}
	base.Code, base.Aliases = fileCode, []string{}
	base.Plural.ID = stableID(fileCode)
	return base
}

// find is the part of Match that looks in the table.
func (t *Table) find(code string) (int, bool) {
	if i, ok := t.lookup(code); ok {
		return i, true
	}
	if i, ok := t.byName[strings.ToLower(code)]; ok {
		return i, true
	}
	if len(code) == 4 && !strings.ContainsFunc(code, func(r rune) bool { return r >= utf8.RuneSelf || !isLetter(byte(r)) }) { // ll_CC without the separator
		if i, ok := t.byFold[fold(code[:2]+"_"+code[2:])]; ok {
			return i, true
		}
	}
	key := fold(code)
	if _, ok := t.defaults[key]; ok {
		base, _, _ := strings.Cut(key, "_")
		return t.lookup(base)
	}
	return 0, false
}

// generate makes the language of an unknown, sanitised code. A base is not longer than
// the longest key of the table, so only that many bytes are searched: a name in a git
// tree may have a million separators.
func (t *Table) generate(code string) Language {
	for prefix := code[:min(len(code), t.longest+1)]; ; {
		cut := strings.LastIndexAny(prefix, codeSeparators)
		if cut < 0 {
			break
		}
		prefix = prefix[:cut]
		if i, ok := t.find(prefix); ok {
			return t.Variant(code, t.langs[i])
		}
	}
	return Language{
		Code:      code,
		Name:      code + " (generated)",
		Direction: direction(t.rtl, code),
		Aliases:   []string{},
		Plural:    Plural{ID: stableID(code), Source: SourceDefault, Number: 2, Formula: "n != 1", Type: 1},
	}
}

// sanitize removes characters that are not part of a code: Android's "b+" and the r of
// "pt-rBR", the "(2)" of a copied file, white space, and dots at the ends. It also
// removes bytes that are not UTF-8 and control characters, as codes appear in URLs,
// JSON and SQL text. It repeats until nothing changes, so that the code of a language
// matches that language.
func sanitize(code string) string {
	code, _, _ = strings.Cut(code, "(")
	code = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || unicode.IsSpace(r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, code)
	for {
		next := strings.Trim(strings.TrimPrefix(code, "b+"), ".")
		if next == code {
			break
		}
		code = next
	}
	if n := len(code) - len("-rXX"); n > 0 && code[n:n+2] == "-r" && isLetter(code[n+2]) && isLetter(code[n+3]) {
		code = code[:n+1] + code[n+2:]
	}
	return code
}

// isLetter reports whether c is an ASCII letter.
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// direction returns RightToLeft if rtl.csv lists the code or its base. Unlike Weblate
// it ends the base also at '@' and '.'.
func direction(rtl map[string]string, code string) string {
	_, whole := rtl[code]
	_, base := rtl[BaseCode(code)]
	if whole || base {
		return RightToLeft
	}
	return LeftToRight
}

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
