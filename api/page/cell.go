package page

import "strings"

// cell is what a table shows of an entry. The template "cell" chooses the markup
// by the fields that are set; the zero value is an empty cell. Every text in it
// went through visible.
type cell struct {
	Text     string
	Left     int       // characters of Text that are left out
	Link     string    // the address of Text or Path
	State    string    // the number of a string's state, whose name is Text
	Time     string    // Text for machines
	Passages []passage // the forms of a string
	Path     []string  // the parts of a link's text between which a line may break
	Number   string
	Percent  string // a bar
	Links    []Link // several addresses
	Word     string // "yes" or "no"
}

// passage is a text of a language.
type passage struct {
	Direction, Language string // Language is "" if unknown
	Text                string
	Left                int // characters that are left out
}

// markup is about how many bytes of markup surround a text.
const markup = 50

// empty reports whether the cell shows nothing.
func (c *cell) empty() bool { return c.size() == 0 }

// size is about how many bytes of a page the cell takes; 0 if it is empty.
func (c *cell) size() int {
	size := escapedLen(c.Text) + len(c.Link) + len(c.Time) + len(c.Percent) + len(c.Number) + len(c.Word)
	for _, p := range c.Passages {
		size += escapedLen(p.Text) + markup
	}
	for _, l := range c.Links {
		size += len(l.URL) + markup
	}
	for _, p := range c.Path {
		size += escapedLen(p)
	}
	if size > 0 {
		size += markup
	}
	return size
}

// escapedLen is the length of a text as HTML.
func escapedLen(s string) int {
	n := len(s)
	for i := range len(s) {
		switch s[i] {
		case '<', '>':
			n += len("&lt;") - 1
		case '&', '"', '\'', '+':
			n += len("&#34;") - 1
		}
	}
	return n
}

// short shows a text.
func short(value string) cell {
	shown, left := cutCount(value, maxCell)
	return cell{Text: visible(shown), Left: left}
}

// anchor shows a link.
func anchor(link, name string) cell {
	return cell{Link: link, Text: visible(cut(name, maxCell))}
}

// plain shows a value, a URL as a link.
func plain(keys ...string) func(*node) cell {
	return func(row *node) cell {
		value := row.text(keys...)
		if link := webURL(value); link != "" {
			return anchor(link, value)
		}
		return short(value)
	}
}

// within shows a cell of a member.
func within(member string, inner func(*node) cell) func(*node) cell {
	return func(row *node) cell {
		if n := row.get(member); n != nil && n.kind == object {
			return inner(n)
		}
		return cell{}
	}
}

// number shows a number.
func number(key string) func(*node) cell {
	return func(row *node) cell { return cell{Number: visible(row.text(key))} }
}

// yes shows a truth value in a word.
func yes(key string) func(*node) cell {
	return func(row *node) cell {
		return cell{Word: map[string]string{"true": "yes", "false": "no"}[row.text(key)]}
	}
}

// joined shows a list of texts in a line.
func joined(keys ...string) func(*node) cell {
	return func(row *node) cell {
		list := row.get(keys...)
		if list == nil {
			return cell{}
		}
		texts := make([]string, len(list.members))
		for i, m := range list.members {
			texts[i] = m.value
		}
		return short(strings.Join(texts, ", "))
	}
}

// when shows a time to the second, with all of it for machines.
func when(key string) func(*node) cell {
	return func(row *node) cell {
		value := row.text(key)
		if len(value) < len("2006-01-02T15:04:05") {
			return short(value)
		}
		return cell{Time: visible(value), Text: visible(strings.Replace(value[:19], "T", " ", 1))}
	}
}
