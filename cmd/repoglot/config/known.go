package config

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// knownComponents are the components of a file that was read, by the text of their
// items in it. When the file changes, items with the same text are not read again: of
// ten thousand components, parsing and checking take 0.5 s.
//
// Runs of known items are replaced by one item each that names the run, and the rest is
// read as ever. If that finds any mistake, or a run is not read exactly once as a part of a list
// of components, then the whole file is read: so errors have their positions, and text
// that only looks like an item, in a comment or a string, does no harm.
type knownComponents struct {
	byText map[string]*knownComponent
}

// knownComponent is a component as it is after its checks.
type knownComponent struct {
	Component
	text  string
	nodes int // values in it
}

// runMark begins the items that name a run of known components.
const runMark = "repoglot: known components "

// maxItem bounds the text of an item that is kept.
const maxItem = 4 << 10

// item is a part of a file that may be one item of a list: a line with a dash and the
// lines below it that are indented more.
type item struct {
	line       int // of the dash
	start, end int
	indent     int
}

// text returns the text of an item, "" if it is not certain that it is a whole one,
// whose meaning depends on nothing else in the file.
func (it *item) text(data []byte) string {
	text := data[it.start:it.end]
	if len(text) > maxItem || bytes.ContainsAny(text, "\t\r&|>!%@`\\") || bytes.Contains(text, []byte("<<")) || bytes.Contains(text, []byte("---")) {
		return ""
	}
	for i, c := range text {
		if c == '*' && strings.IndexByte(" [{,:", text[i-1]) >= 0 { // an alias; the text begins with spaces
			return ""
		}
	}
	for _, pair := range []string{"{}", "[]"} {
		if bytes.Count(text, []byte(pair[:1])) != bytes.Count(text, []byte(pair[1:])) {
			return ""
		}
	}
	if bytes.Count(text, []byte(`"`))%2 != 0 || bytes.Count(text, []byte("'"))%2 != 0 {
		return ""
	}
	if next := nextIndent(data[it.end:]); next > it.indent {
		return "" // it goes on below a comment
	}
	return string(text)
}

// nextIndent returns the indentation of the first line that is neither empty nor a
// comment; -1 at the end.
func nextIndent(data []byte) int {
	for line := range bytes.Lines(data) {
		if n, blank := indentOf(line); !blank {
			return n
		}
	}
	return -1
}

// indentOf returns how many spaces a line begins with; blank says that nothing but a
// comment follows.
func indentOf(line []byte) (n int, blank bool) {
	rest := bytes.TrimLeft(line, " ")
	return len(line) - len(rest), len(bytes.TrimSpace(rest)) == 0 || rest[0] == '#'
}

// eachItem calls fn for the items of a file that are indented. If fn returns true, the
// items within it are left out.
func eachItem(data []byte, fn func(*item) bool) {
	line := 0
	for start := 0; start < len(data); {
		line++
		end := lineEnd(data, start)
		indent, blank := indentOf(data[start:end])
		if blank || indent == 0 || !bytes.HasPrefix(data[start+indent:end], []byte("- ")) {
			start = end
			continue
		}
		it := item{line: line, start: start, end: end, indent: indent}
		for it.end < len(data) && it.end-it.start <= maxItem {
			next := lineEnd(data, it.end)
			if n, blank := indentOf(data[it.end:next]); blank || n <= indent {
				break
			}
			it.end = next
		}
		if fn(&it) {
			line += bytes.Count(data[end:it.end], []byte("\n"))
			end = it.end
		}
		start = end
	}
}

// lineEnd returns the end of the line that begins at start, behind its line break.
func lineEnd(data []byte, start int) int {
	if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
		return start + i + 1
	}
	return len(data)
}

// reduce replaces the runs of known items of a file.
func (k *knownComponents) reduce(data []byte) (reduced []byte, runs [][]*knownComponent) {
	copied, runEnd := 0, -1
	eachItem(data, func(it *item) bool {
		known := k.byText[it.text(data)]
		if known == nil {
			return false
		}
		if it.start == runEnd && copied == runEnd {
			runs[len(runs)-1] = append(runs[len(runs)-1], known)
		} else {
			reduced = append(reduced, data[copied:it.start]...)
			reduced = append(reduced, strings.Repeat(" ", it.indent)+`- "`+runMark+strconv.Itoa(len(runs))+"\"\n"...)
			runs = append(runs, []*knownComponent{known})
		}
		copied, runEnd = it.end, it.end
		return true
	})
	return append(reduced, data[copied:]...), runs
}

// parseChanged is Parse for a file of which items are known; ok is false if the whole
// file must be read.
func (k *knownComponents) parseChanged(path string, data []byte, environ []string) (c *Config, ok bool) {
	if k == nil || len(k.byText) == 0 || bytes.Contains(data, []byte(runMark)) || tooDeep(data) > 0 {
		return nil, false
	}
	reduced, runs := k.reduce(data)
	if len(runs) == 0 {
		return nil, false
	}
	d := newDecoder(path)
	d.runs, d.unread, d.known = runs, len(runs), map[string]*knownComponent{}
	c, err := d.parse(path, reduced, environ)
	if err != nil || d.unread != 0 || d.nodes > maxNodes {
		return nil, false
	}
	c.source = data
	return c, true
}

// run returns the known components that an item of a list names, and forgets them.
func (d *decoder) run(node ast.Node) []*knownComponent {
	if d.unread == 0 {
		return nil
	}
	s, ok := text(node)
	number, found := strings.CutPrefix(s, runMark)
	if !ok || !found {
		return nil
	}
	i, err := strconv.Atoi(number)
	if err != nil || d.runs[i] == nil {
		return nil
	}
	run := d.runs[i]
	d.runs[i] = nil
	d.unread--
	return run
}

// remember keeps the components that were read, as they are after their checks.
func (d *decoder) remember(c *Config, data []byte) {
	texts := make(map[int]string, len(d.items))
	eachItem(data, func(it *item) bool {
		texts[it.line] = it.text(data)
		return false
	})
	c.known = &knownComponents{byText: make(map[string]*knownComponent, len(d.items)+len(d.known))}
	for i := range c.Projects {
		list := index("projects", i) + ".components"
		for j := range c.Projects[i].Components {
			at := index(list, j)
			known, read := d.known[at], d.items[at]
			if known == nil {
				known = &knownComponent{Component: c.Projects[i].Components[j], text: texts[read.line], nodes: read.nodes}
			}
			if known.text != "" {
				c.known.byText[known.text] = known
			}
		}
	}
}

// readItem is an item that was read.
type readItem struct {
	line  int
	nodes int // values in it
}
