// Package diff says what two states of PO files differ in, by their meaning: strings that were
// added, removed or reworded, texts and states that changed, comments, the header. References,
// dates, order and line breaks are counted only.
//
// Goals: one report for people (text, Markdown, HTML) and programs (JSON); a change of a source
// string is told once, in however many languages it is; no part of a file can act as markup, as a
// command of a forge or CI system, or control a terminal; bounded output.
//
// Non-goals: which strings belong together, which is merge's table with ours = base; reading
// repositories; quality checks, which callers add.
package diff

import (
	"cmp"
	"slices"
	"strings"
)

// Version is the version of the JSON; it grows when a member is removed or changes its meaning.
const Version = 1

// Counts are numbers of strings, except for Header (fields) and Checks (failures).
type Counts struct {
	// Added, Removed and Reworded are source strings. A reworded one has another msgid or
	// msgid_plural, and is similar.
	Added    int `json:"added"`
	Removed  int `json:"removed"`
	Reworded int `json:"reworded"`
	// Translated strings had no text, Emptied ones have none any more, Texts have another one.
	Translated int `json:"translated"`
	Emptied    int `json:"emptied"`
	Texts      int `json:"texts"`
	// Fuzzy strings became fuzzy, Confirmed ones are not fuzzy any more.
	Fuzzy     int `json:"fuzzy"`
	Confirmed int `json:"confirmed"`
	// Forms is of strings with another number of plural forms.
	Forms int `json:"forms"`
	// Comments is of the translators' comments, Notes of those for them ("#."), Flags of flags
	// but fuzzy.
	Comments int `json:"comments"`
	Notes    int `json:"notes"`
	Flags    int `json:"flags"`
	Header   int `json:"header"`
	// Checks are quality checks that fail now and did not before.
	Checks int `json:"checks"`
}

// count is a number with its name in JSON, and its words.
type count struct {
	name, noun, verb string
	of               func(*Counts) *int
}

// counts are all, in the order in which they are told.
var counts = [...]count{
	{"added", "string", "added", func(c *Counts) *int { return &c.Added }},
	{"removed", "string", "removed", func(c *Counts) *int { return &c.Removed }},
	{"reworded", "string", "reworded", func(c *Counts) *int { return &c.Reworded }},
	{"flags", "string", "with other flags", func(c *Counts) *int { return &c.Flags }},
	{"note", "note", "changed", func(c *Counts) *int { return &c.Notes }},
	{"translated", "text", "new", func(c *Counts) *int { return &c.Translated }},
	{"text", "text", "changed", func(c *Counts) *int { return &c.Texts }},
	{"emptied", "text", "removed", func(c *Counts) *int { return &c.Emptied }},
	{"fuzzy", "text", "now fuzzy", func(c *Counts) *int { return &c.Fuzzy }},
	{"confirmed", "text", "no longer fuzzy", func(c *Counts) *int { return &c.Confirmed }},
	{"forms", "text", "with more or fewer forms", func(c *Counts) *int { return &c.Forms }},
	{"comment", "comment", "changed", func(c *Counts) *int { return &c.Comments }},
	{"header", "header field", "changed", func(c *Counts) *int { return &c.Header }},
	{"checks", "check", "newly failing", func(c *Counts) *int { return &c.Checks }},
}

// own is the first of the counts that are of one language, not of source strings.
const own = 5

func (c *Counts) add(other *Counts) {
	for _, k := range counts {
		*k.of(c) += *k.of(other)
	}
}

// words tells some of the counts: "3 strings added, 1 reworded".
func (c *Counts) words(of []count) string {
	var parts []string
	noun := ""
	for _, k := range of {
		switch n := *k.of(c); {
		case n == 0:
			continue
		case k.noun == noun:
			parts = append(parts, number(n)+" "+k.verb)
		default:
			parts = append(parts, quantity(n, k.noun)+" "+k.verb)
		}
		noun = k.noun
	}
	return strings.Join(parts, ", ")
}

// counted adds one to the count of a name.
func (c *Counts) counted(name string) {
	for _, k := range counts {
		if k.name == name {
			*k.of(c)++
		}
	}
}

// Ignored counts what has no meaning.
type Ignored struct {
	// References that came or went, and header fields with dates or a program's name.
	References int `json:"references"`
	Dates      int `json:"dates"`
	// Order is the least number of strings that were moved, Wrapping that of strings whose lines
	// are broken or escaped in another way.
	Order    int `json:"order"`
	Wrapping int `json:"wrapping"`
	// Obsolete is of obsolete entries that came, went or changed, Marks of fuzzy marks of
	// strings without a text, and of previous msgids.
	Obsolete int `json:"obsolete"`
	Marks    int `json:"marks"`
}

// words tells the counts; "" if all are zero.
func (g *Ignored) words() string {
	var parts []string
	for _, k := range []struct {
		n    int
		noun string
	}{
		{g.References, "reference"},
		{g.Dates, "date"},
		{g.Order, "moved string"},
		{g.Wrapping, "rewrapped string"},
		{g.Obsolete, "obsolete entry"},
		{g.Marks, "mark"},
	} {
		if k.n > 0 {
			parts = append(parts, quantity(k.n, k.noun))
		}
	}
	return strings.Join(parts, ", ")
}

func (g *Ignored) add(other *Ignored) {
	g.References, g.Dates, g.Order = g.References+other.References, g.Dates+other.Dates, g.Order+other.Order
	g.Wrapping, g.Obsolete, g.Marks = g.Wrapping+other.Wrapping, g.Obsolete+other.Obsolete, g.Marks+other.Marks
}

// The values of File.Status.
const (
	Equal      = "equal" // in meaning
	Changed    = "changed"
	Added      = "added"
	Removed    = "removed"
	Unreadable = "unreadable"
)

// File is what one file differs in.
type File struct {
	// Path names the file. Group is what has the same strings in all languages, such as a
	// filemask; Language is "" if it is not known, or for a template.
	Path     string `json:"path"`
	Group    string `json:"group"`
	Language string `json:"language"`
	Template bool   `json:"template"`
	// Status is one of the constants. Error says why an Unreadable file is, with line and column.
	Status string `json:"status"`
	Error  string `json:"error,omitempty"`
	// Total, Translated and Fuzzy count the live strings of the new file, or of the old one if
	// it was removed.
	Total      int `json:"total"`
	Translated int `json:"translated"`
	Fuzzy      int `json:"fuzzy"`
	// Counts is zero for files that were added or removed, and for unreadable ones.
	Counts  Counts  `json:"counts"`
	Ignored Ignored `json:"ignored"`
	Header  []Field `json:"header"`
	// Strings are in the order of the new file, removed ones last; Omitted more are only counted.
	Strings []String `json:"strings"`
	Omitted int      `json:"omitted,omitempty"`
	Checks  []Check  `json:"checks"`
}

// Field is a header field that changed; "#" is the header's comment, "fuzzy" its mark.
type Field struct {
	Name string `json:"name"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// String is a string that changed.
type String struct {
	// Kind is added, removed, reworded or changed; Changes are text, translated, emptied, fuzzy,
	// confirmed, forms, comment, note, flags, as in Counts, for reworded and changed ones.
	Kind    string   `json:"kind"`
	Changes []string `json:"changes"`
	// Line is where it begins in the new file, of a removed one in the old file.
	Line    int     `json:"line"`
	Context *string `json:"context,omitempty"`
	Source  string  `json:"source"`
	Plural  string  `json:"plural,omitempty"`
	// OldContext, OldSource and OldPlural are those of a reworded string before, Similarity is
	// gettext's, from 0 to 1.
	OldContext *string `json:"old_context,omitempty"`
	OldSource  string  `json:"old_source,omitempty"`
	OldPlural  string  `json:"old_plural,omitempty"`
	Similarity float64 `json:"similarity,omitempty"`
	// Old is nil for an added string, New for a removed one.
	Old *Text `json:"old,omitempty"`
	New *Text `json:"new,omitempty"`
	// Lines has the comments, notes and flags that changed.
	Lines []Lines `json:"lines,omitempty"`
	// Origin is the commit that brought it, if that was asked for.
	Origin *Origin `json:"origin,omitempty"`
}

// Text is the translation of a string.
type Text struct {
	Forms []string `json:"forms"`
	// State is untranslated, fuzzy or translated.
	State string `json:"state"`
}

// Lines are a comment, note or flags, by the names of Changes.
type Lines struct {
	Name string   `json:"name"`
	Old  []string `json:"old"`
	New  []string `json:"new"`
}

// Origin is a commit.
type Origin struct {
	Commit  string `json:"commit"`
	Author  string `json:"author"`
	Email   string `json:"email"`
	Date    string `json:"date"`
	Subject string `json:"subject"`
}

// Check is a quality check that a string fails now and did not before.
type Check struct {
	Line    int     `json:"line"`
	Context *string `json:"context,omitempty"`
	Source  string  `json:"source"`
	Check   string  `json:"check"`
	Message string  `json:"message"`
}

// Language sums up the files of a language. Language is "" for templates and where it is not known.
type Language struct {
	Language string  `json:"language"`
	Files    int     `json:"files"`
	Counts   Counts  `json:"counts"`
	Ignored  Ignored `json:"ignored"`
}

// Report is what two states of many files differ in.
type Report struct {
	Version int `json:"version"`
	// Base and Head name the states; the caller sets them.
	Base string `json:"base"`
	Head string `json:"head"`
	// Compared is the number of files, equal ones too.
	Compared int `json:"compared"`
	// Sources counts each change of a source string once in a group, however many files have it.
	Sources Counts `json:"sources"`
	// Counts and Ignored are of all files.
	Counts    Counts     `json:"counts"`
	Ignored   Ignored    `json:"ignored"`
	Languages []Language `json:"languages"`
	// Files are those that are not Equal.
	Files []File `json:"files"`
}

// New sums up files. It sorts them by group, language and path, and lists up to most strings and
// checks, all if it is 0; the counts are of all.
func New(files []File, most int) Report {
	r := Report{Version: Version, Compared: len(files), Languages: []Language{}, Files: []File{}}
	slices.SortStableFunc(files, func(a, b File) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Language, b.Language), strings.Compare(a.Path, b.Path))
	})
	languages := map[string]*Language{}
	for i := range files {
		f := &files[i]
		f.Counts.Checks = len(f.Checks)
		if len(f.Checks) > 0 && f.Status == Equal {
			f.Status = Changed
		}
		r.Counts.add(&f.Counts)
		r.Ignored.add(&f.Ignored)
		if f.Status == Equal {
			continue
		}
		r.Files = append(r.Files, *f)
		l := languages[f.Language]
		if l == nil {
			l = &Language{Language: f.Language}
			languages[f.Language] = l
		}
		l.Files++
		l.Counts.add(&f.Counts)
		l.Ignored.add(&f.Ignored)
	}
	for _, l := range languages {
		r.Languages = append(r.Languages, *l)
	}
	slices.SortFunc(r.Languages, func(a, b Language) int { return strings.Compare(a.Language, b.Language) })
	for _, s := range r.sources() {
		r.Sources.add(&s.counts)
	}
	left, checks := most, most
	for i := range r.Files {
		if f := &r.Files[i]; most > 0 {
			list := min(left, len(f.Strings))
			f.Omitted, f.Strings, left = len(f.Strings)-list, f.Strings[:list:list], left-list
			list = min(checks, len(f.Checks))
			f.Checks, checks = f.Checks[:list:list], checks-list
		}
	}
	return r
}

// Differs reports whether the states differ in meaning.
func (r *Report) Differs() bool { return len(r.Files) > 0 }

// Failed reports whether a file is unreadable.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Files, func(f File) bool { return f.Status == Unreadable })
}

// source is a change of a source string in the files of a group.
type source struct {
	String
	group  string
	counts Counts
	files  int
}

// sourceKey identifies a string of a group by what it is called after the change.
func sourceKey(group string, context *string, id string) string {
	if context == nil {
		return group + "\x00" + id
	}
	return group + "\x00" + *context + "\x04" + id
}

// sources lists the changes of source strings, each once in a group. A string that is reworded in one
// file and added in another, which never had the old one, is reworded; the old one of it is not removed.
func (r *Report) sources() []*source {
	var list []*source
	byKey, replaced := map[string]*source{}, map[string]bool{}
	for i := range r.Files {
		for _, s := range r.Files[i].Strings {
			var c Counts
			if s.Kind != "changed" {
				c.counted(s.Kind)
			}
			for _, change := range s.Changes {
				if change == "note" || change == "flags" {
					c.counted(change)
				}
			}
			if c == (Counts{}) {
				continue
			}
			key := sourceKey(r.Files[i].Group, s.Context, s.Source)
			if s.Kind == "reworded" {
				replaced[sourceKey(r.Files[i].Group, s.OldContext, s.OldSource)] = true
			}
			known := byKey[key]
			if known == nil {
				known = &source{String: s, group: r.Files[i].Group}
				byKey[key], list = known, append(list, known)
			}
			known.files++
			if s.Kind == "reworded" && known.Kind != s.Kind {
				known.String = s
			}
			for k := range own {
				n := counts[k].of(&known.counts)
				*n = max(*n, *counts[k].of(&c))
			}
			if known.counts.Reworded > 0 {
				known.counts.Added, known.counts.Removed = 0, 0
			}
		}
	}
	return slices.DeleteFunc(list, func(s *source) bool {
		return s.Kind == "removed" && replaced[sourceKey(s.group, s.Context, s.Source)]
	})
}
