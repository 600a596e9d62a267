package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/merge"
)

// Options say what a file is, for its report. The zero value is of a file that stands alone.
type Options struct {
	// Group and Language are those of File; Group is the path by default.
	Group, Language string
	// Template says that the file is a template.
	Template bool
	// Comparisons bounds the search for reworded strings, as in merge.Options.
	Comparisons int
	// Checks are asked for the texts that changed, before and after. Nil: there are none.
	Checks Checks
}

// Checks returns the quality checks that some entries of a file fail: the message of each, by its
// name.
type Checks = func(f *poparse.File, of []*poparse.Entry) map[*poparse.Entry]map[string]string

// Files compares the old bytes of a file with the new ones; nil: there is no such file. Files that
// are equal to the byte are not read. It never fails: see Unreadable.
func Files(path string, old, new []byte, o Options) File {
	f := File{Path: path, Group: cmp.Or(o.Group, path), Language: o.Language, Template: o.Template, Status: Equal, Header: []Field{}, Strings: []String{}, Checks: []Check{}}
	if bytes.Equal(old, new) && (old == nil) == (new == nil) {
		return f
	}
	a, was, oldErr := parse(path, old)
	b, is, err := parse(path, new)
	if err != nil {
		f.Status, f.Error = Unreadable, err.Error()
		return f
	}
	if oldErr != nil {
		f.Status, f.Error = Unreadable, "before: "+oldErr.Error()
		return f
	}
	c := comparison{file: &f, Options: o}
	c.compare(a, b, was, is)
	f.Language = cmp.Or(f.Language, fieldOf(b, "Language"), fieldOf(a, "Language"))
	if f.Counts != (Counts{}) || len(f.Checks) > 0 {
		f.Status = Changed
	}
	return f
}

func fieldOf(f *poparse.File, name string) string {
	if f == nil {
		return ""
	}
	return strings.Clone(f.Field(name))
}

func parse(path string, data []byte) (*poparse.File, *poparse.Layout, error) {
	if data == nil {
		return nil, nil, nil
	}
	return poparse.ParseLayout(path, data)
}

// compare compares two files that were read, either of which may be nil.
func (c *comparison) compare(old, new *poparse.File, was, is *poparse.Layout) {
	f := c.file
	switch {
	case old == nil:
		f.Status = Added
		f.total(new)
		return
	case new == nil:
		f.Status = Removed
		f.total(old)
		return
	}
	f.total(new)
	t := merge.NewTable(old, old, new, merge.Options{Comparisons: c.Comparisons})
	var removed []*poparse.Entry
	for i := range t.Rows {
		r := &t.Rows[i]
		o, n := r.Entry[merge.Base], r.Entry[merge.Theirs]
		switch is, was := live(n), live(o); {
		case r.Header && o == old.Header && n == new.Header:
			c.header(cmp.Or(o, &poparse.Entry{}), cmp.Or(n, &poparse.Entry{}))
		case is && was:
			c.pair(o, n, r)
		case is:
			c.add(n, String{Kind: "added", New: text(n)})
			c.texts = append(c.texts, [2]*poparse.Entry{nil, n})
		case was:
			removed = append(removed, o)
		case r.Changed[merge.Theirs]&^(merge.FieldExtracted|merge.FieldReferences) != 0:
			f.Ignored.Obsolete++
		}
	}
	slices.SortStableFunc(c.pairs, func(a, b [2]*poparse.Entry) int { return cmp.Compare(a[1].KeywordLine, b[1].KeywordLine) })
	f.Ignored.Order = len(c.pairs) - ascending(c.pairs)
	for _, p := range c.equal {
		if linesOf(was, p[0]) != linesOf(is, p[1]) {
			f.Ignored.Wrapping++
		}
	}
	slices.SortStableFunc(f.Strings, func(a, b String) int { return cmp.Compare(a.Line, b.Line) })
	for _, o := range removed {
		c.add(o, String{Kind: "removed", Old: text(o)})
	}
	c.check(old, new)
}

// check adds the checks that fail now.
func (c *comparison) check(old, new *poparse.File) {
	if c.Checks == nil || len(c.texts) == 0 {
		return
	}
	slices.SortStableFunc(c.texts, func(a, b [2]*poparse.Entry) int { return cmp.Compare(a[1].Line, b[1].Line) })
	var was, is []*poparse.Entry
	for _, p := range c.texts {
		if is = append(is, p[1]); p[0] != nil {
			was = append(was, p[0])
		}
	}
	now := c.Checks(new, is)
	if len(now) == 0 {
		return
	}
	before := c.Checks(old, was)
	for _, p := range c.texts {
		for _, name := range slices.Sorted(maps.Keys(now[p[1]])) {
			if _, had := before[p[0]][name]; !had {
				c.file.Checks = append(c.file.Checks, Check{p[1].Line, contextOf(p[1]), strings.Clone(p[1].ID), name, now[p[1]][name]})
			}
		}
	}
}

func live(e *poparse.Entry) bool {
	return e != nil && !e.Obsolete && !e.Duplicate && (e.ID != "" || e.HasContext)
}

func (f *File) total(of *poparse.File) {
	for e := range of.Live() {
		f.Total++
		switch state(e) {
		case "translated":
			f.Translated++
		case "fuzzy":
			f.Fuzzy++
		}
	}
}

func state(e *poparse.Entry) string {
	switch {
	case merge.TextOf(e).Empty():
		return "untranslated"
	case e.Fuzzy:
		return "fuzzy"
	}
	return "translated"
}

// text and what follows copy strings, which share the memory of their file.
func text(e *poparse.Entry) *Text { return &Text{cloned(e.Str), state(e)} }

func cloned(list []string) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = strings.Clone(list[i])
	}
	return out
}

func contextOf(e *poparse.Entry) *string {
	if !e.HasContext {
		return nil
	}
	context := strings.Clone(e.Context)
	return &context
}

// comparison fills a File.
type comparison struct {
	Options
	file  *File
	texts [][2]*poparse.Entry // strings that changed
	pairs [][2]*poparse.Entry // strings that are in both files
	equal [][2]*poparse.Entry // entries that may be wrapped in another way
}

// add adds a string.
func (c *comparison) add(e *poparse.Entry, s String) {
	s.Line, s.Context, s.Source, s.Plural = e.Line, contextOf(e), strings.Clone(e.ID), strings.Clone(e.IDPlural)
	if s.Changes == nil {
		s.Changes = []string{}
	}
	if s.Kind != "changed" {
		c.file.Counts.counted(s.Kind)
	}
	for _, change := range s.Changes {
		c.file.Counts.counted(change)
	}
	c.file.Strings = append(c.file.Strings, s)
}

// pair compares a string before and after.
func (c *comparison) pair(o, n *poparse.Entry, r *merge.Row) {
	c.pairs = append(c.pairs, [2]*poparse.Entry{o, n})
	s := String{Kind: "changed"}
	if r.Changed[merge.Theirs]&merge.FieldSource != 0 {
		s.Kind, s.OldContext, s.OldSource, s.OldPlural, s.Similarity = "reworded", contextOf(o), strings.Clone(o.ID), strings.Clone(o.IDPlural), min(r.Similarity, 1)
	}
	change := func(name string, is bool) {
		if is {
			s.Changes = append(s.Changes, name)
		}
	}
	before, after := state(o), state(n)
	had, has := before != "untranslated", after != "untranslated"
	common := min(len(o.Str), len(n.Str))
	change("translated", !had && has)
	change("emptied", had && !has)
	change("text", had && has && !slices.Equal(o.Str[:common], n.Str[:common]))
	change("forms", had && has && len(o.Str) != len(n.Str))
	change("fuzzy", has && before != "fuzzy" && after == "fuzzy")
	change("confirmed", before == "fuzzy" && after == "translated")
	lines := func(name string, a, b []string) {
		if !slices.Equal(a, b) {
			s.Changes, s.Lines = append(s.Changes, name), append(s.Lines, Lines{name, cloned(a), cloned(b)})
		}
	}
	lines("comment", o.Comments, n.Comments)
	lines("note", o.Extracted, n.Extracted)
	if !slices.Equal(o.Flags, n.Flags) {
		lines("flags", slices.Sorted(slices.Values(o.Flags)), slices.Sorted(slices.Values(n.Flags)))
	}
	if o.Fuzzy != n.Fuzzy && !had && !has || !o.Previous.Equal(n.Previous) {
		c.file.Ignored.Marks++
	}
	c.file.Ignored.References += changed(o.References, n.References)
	if s.Kind != "changed" || len(s.Changes) > 0 {
		s.Old, s.New = text(o), text(n)
		c.add(n, s)
		c.texts = append(c.texts, [2]*poparse.Entry{o, n})
		return
	}
	c.equal = append(c.equal, [2]*poparse.Entry{o, n})
}

// changed is how many references came or went, whichever is more.
func changed(a, b []string) int {
	if slices.Equal(a, b) {
		return 0
	}
	if len(a) == 1 && len(b) == 1 {
		return 1
	}
	count := make(map[string]int, len(a))
	for _, ref := range a {
		count[ref]++
	}
	common := 0
	for _, ref := range b {
		if count[ref] > 0 {
			count[ref]--
			common++
		}
	}
	return max(len(a), len(b)) - common
}

// passing are the header fields that change with each save.
var passing = []string{"pot-creation-date", "po-revision-date", "x-generator"}

// header compares the headers.
func (c *comparison) header(o, n *poparse.Entry) {
	field := func(name, old, new string) {
		switch {
		case old == new:
		case slices.Contains(passing, strings.ToLower(name)):
			c.file.Ignored.Dates++
		default:
			c.file.Counts.Header++
			c.file.Header = append(c.file.Header, Field{strings.Clone(name), strings.Clone(old), strings.Clone(new)})
		}
	}
	old, new := fields(o), fields(n)
	for _, f := range new {
		field(f[0], valueOf(old, f[0]), f[1])
	}
	for _, f := range old {
		if !slices.ContainsFunc(new, func(g [2]string) bool { return strings.EqualFold(f[0], g[0]) }) {
			field(f[0], f[1], "")
		}
	}
	field("#", strings.Join(o.Comments, "\n"), strings.Join(n.Comments, "\n"))
	field("fuzzy", fmt.Sprint(o.Fuzzy), fmt.Sprint(n.Fuzzy))
	if c.file.Counts.Header+c.file.Ignored.Dates == 0 {
		c.equal = append(c.equal, [2]*poparse.Entry{o, n})
	}
}

// fields splits a header: names and values, in order, of repeated ones all values in one; lines
// without a colon have no name.
func fields(e *poparse.Entry) (list [][2]string) {
	at := map[string]int{}
	for line := range strings.Lines(strings.Join(e.Str, "")) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			name, value = "", name
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		key := strings.ToLower(name)
		if i, ok := at[key]; ok {
			list[i][1] += "\n" + value
			continue
		}
		at[key] = len(list)
		list = append(list, [2]string{name, value})
	}
	return list
}

func valueOf(fields [][2]string, name string) string {
	for _, f := range fields {
		if strings.EqualFold(f[0], name) {
			return f[1]
		}
	}
	return ""
}

// ascending is the length of the longest sequence of strings that both files have in one order.
func ascending(pairs [][2]*poparse.Entry) int {
	var ends []int // the least last line of a sequence of each length
	for _, p := range pairs {
		line := p[0].KeywordLine
		i := len(ends)
		if i > 0 && line <= ends[i-1] {
			i, _ = slices.BinarySearch(ends, line)
			ends[i] = line
			continue
		}
		ends = append(ends, line)
	}
	return len(ends)
}

// linesOf returns the lines of an entry from its msgctxt or msgid on.
func linesOf(l *poparse.Layout, e *poparse.Entry) string {
	i, _ := slices.BinarySearchFunc(l.Spans, e.KeywordLine, func(s poparse.Span, line int) int { return cmp.Compare(s.Entry.KeywordLine, line) })
	return strings.TrimRight(l.Text[l.Spans[i].IDs:l.Spans[i].To], "\r\n \t")
}

// Span is a part of two texts: "" of both, "del" of the old one, "ins" of the new one.
type Span struct{ Kind, Text string }

// maxWords bounds the words of each of two texts that are compared word by word, after what is equal at
// both ends.
const maxWords = 600

// Mark compares two texts word by word. A text of more than maxWords is replaced as a whole.
func Mark(old, new string) []Span {
	var out []Span
	add := func(kind string, words ...string) {
		for _, text := range words {
			if n := len(out); n > 0 && out[n-1].Kind == kind {
				out[n-1].Text += text
			} else {
				out = append(out, Span{kind, text})
			}
		}
	}
	a, b := words(old), words(new)
	var end []string
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		add("", a[0])
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b, end = a[:len(a)-1], b[:len(b)-1], a[len(a)-1:len(a)+len(end)]
	}
	if len(a) > maxWords || len(b) > maxWords {
		add("del", a...)
		add("ins", b...)
		a, b = nil, nil
	}
	common := make([][]uint16, len(a)+1) // lengths of the longest common sequences of the ends
	common[len(a)] = make([]uint16, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		common[i] = make([]uint16, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			add("", a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			add("del", a[i])
			i++
		default:
			add("ins", b[j])
			j++
		}
	}
	add("", end...)
	return out
}

// words splits a text into words, blanks and single other characters, so that a
// language without blanks is compared character by character.
func words(s string) (list []string) {
	kind := func(r rune) int {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			return 0
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	start, last := 0, -1
	for i, r := range s {
		k := kind(r)
		if i > 0 && (k == 0 || k != last) {
			list = append(list, s[start:i])
			start = i
		}
		last = k
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}
