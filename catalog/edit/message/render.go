package message

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/repoglot/repoglot/catalog"
)

// Values are what the placeholders of a template stand for.
type Values struct {
	// SiteTitle and SiteURL are of this server; URL is the page of what the message
	// is about, WidgetURL a picture of how much is translated.
	SiteTitle, SiteURL, URL, WidgetURL string
	// Project and Component are names, the slugs their parts of addresses.
	Project, ProjectSlug, Component, ComponentSlug string
	// RemoteBranch is "origin/" and the branch.
	RemoteBranch string
	// Linked are the components that share the repository.
	Linked []Linked
	// Language is the language's name, LanguageCode the code as in the file's name,
	// Filename the path of the file. For several translations they are lists.
	Language, LanguageCode, Filename string
	// Author is "Name <e-mail>".
	Author string
	// Stats are those of the translation, after the commit.
	Stats catalog.Stats
	// Addon is the name of an add-on.
	Addon string
}

// Linked is an item of component_linked_childs.
type Linked struct{ Project, Name, URL string }

const linkedName = "component_linked_childs"

// placeholder says what a name stands for. translation: only where a message is about
// a translation.
type placeholder struct {
	translation bool
	get         func(v *Values) string
}

// placeholders returns all names, Weblate's.
var placeholders = sync.OnceValue(func() map[string]placeholder {
	all := map[string]placeholder{
		"site_title":              {false, func(v *Values) string { return v.SiteTitle }},
		"site_url":                {false, func(v *Values) string { return v.SiteURL }},
		"url":                     {false, func(v *Values) string { return v.URL }},
		"widget_url":              {false, func(v *Values) string { return v.WidgetURL }},
		"project_name":            {false, func(v *Values) string { return v.Project }},
		"project_slug":            {false, func(v *Values) string { return v.ProjectSlug }},
		"component_name":          {false, func(v *Values) string { return v.Component }},
		"component_slug":          {false, func(v *Values) string { return v.ComponentSlug }},
		"component_remote_branch": {false, func(v *Values) string { return v.RemoteBranch }},
		linkedName:                {false, linkedText},
		"language_name":           {true, func(v *Values) string { return v.Language }},
		"language_code":           {true, func(v *Values) string { return v.LanguageCode }},
		"filename":                {true, func(v *Values) string { return v.Filename }},
		"author":                  {true, func(v *Values) string { return v.Author }},
		"addon_name":              {false, func(v *Values) string { return v.Addon }},
		"hook_name":               {false, func(v *Values) string { return v.Addon }},
		"stats.suggestions":       {true, func(v *Values) string { return strconv.FormatInt(v.Stats.Suggestions, 10) }},
		"stats.comments":          {true, func(v *Values) string { return strconv.FormatInt(v.Stats.Comments, 10) }},
	}
	for name, count := range map[string]func(s *catalog.Stats) catalog.Count{
		"all":        func(s *catalog.Stats) catalog.Count { return s.Total },
		"translated": func(s *catalog.Stats) catalog.Count { return s.Translated },
		"fuzzy":      func(s *catalog.Stats) catalog.Count { return s.Fuzzy },
		"readonly":   func(s *catalog.Stats) catalog.Count { return s.ReadOnly },
		"allchecks":  func(s *catalog.Stats) catalog.Count { return s.Failing },
		"approved":   func(*catalog.Stats) catalog.Count { return catalog.Count{} },
		"todo": func(s *catalog.Stats) catalog.Count {
			todo := s.Total
			todo.Subtract(s.Translated)
			return todo
		},
	} {
		for suffix, of := range map[string]func(c catalog.Count) int64{
			"":       func(c catalog.Count) int64 { return c.Units },
			"_words": func(c catalog.Count) int64 { return c.Words },
			"_chars": func(c catalog.Count) int64 { return c.Chars },
		} {
			all["stats."+name+suffix] = placeholder{true, func(v *Values) string { return strconv.FormatInt(of(count(&v.Stats)), 10) }}
			all["stats."+name+suffix+"_percent"] = placeholder{true, func(v *Values) string {
				return percent(of(count(&v.Stats)), of(v.Stats.Total), name == "translated" || name == "all")
			}}
		}
	}
	return all
})

// percent returns a share as the API has it (docs/compatibility.md#percentages).
func percent(n, total int64, complete bool) string {
	tenths := catalog.Tenths(0)
	if complete {
		tenths = 1000
	}
	tenths = catalog.Percent(n, total, tenths)
	if tenths == 0 && n > 0 {
		tenths = 1
	}
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// linkedText lists the linked components, for a placeholder without a loop.
func linkedText(v *Values) string {
	return strings.Join(catalog.Each(v.Linked, func(l *Linked) string { return l.Project + "/" + l.Name }), ", ")
}

// itemFields returns the fields of an item of a loop.
func itemFields() map[string]func(*Linked) string {
	return map[string]func(*Linked) string{
		"project_name": func(l *Linked) string { return l.Project },
		"name":         func(l *Linked) string { return l.Name },
		"url":          func(l *Linked) string { return l.URL },
	}
}

// filters are those of Weblate's manual.
func filters() map[string]func(string) string {
	return map[string]func(string) string{
		"stripext": func(s string) string { return strings.TrimSuffix(s, path.Ext(s)) },
		"basename": path.Base,
		"dirname":  path.Dir,
		"parentdir": func(s string) string {
			_, rest, _ := strings.Cut(s, "/")
			return rest
		},
	}
}

// names lists what messages say is known.
func names[V any](of map[string]V) string { return strings.Join(slices.Sorted(maps.Keys(of)), ", ") }

const (
	maxMessage = 32 << 10
	maxValue   = 1000
)

// renderer renders a template.
type renderer struct {
	values *Values
	items  map[string]*Linked // by the name that a loop gives them
	out    strings.Builder
}

// Render returns the message, with LF and without blank lines at its ends or two in a
// row; at most 32 KiB, cut at the end of a line. It is "" if nothing is left.
func (t *Template) Render(v Values) string {
	r := renderer{values: &v, items: map[string]*Linked{}}
	r.nodes(t.nodes)
	return tidy(r.out.String())
}

func (r *renderer) nodes(list []node) {
	for i := range list {
		if r.out.Len() > 2*maxMessage {
			return
		}
		switch n := &list[i]; {
		case n.value != nil:
			r.write(r.get(*n.value))
		case n.loop != "":
			r.loop(n)
		case n.cases != nil:
			r.condition(n)
		default:
			r.out.WriteString(n.text)
		}
	}
}

func (r *renderer) loop(n *node) {
	if len(r.values.Linked) == 0 {
		r.nodes(n.orElse)
	}
	outer := r.items[n.loop]
	for i := range r.values.Linked {
		r.items[n.loop] = &r.values.Linked[i]
		r.nodes(n.body)
	}
	r.items[n.loop] = outer
}

func (r *renderer) condition(n *node) {
	for _, c := range n.cases {
		if r.holds(c.condition) {
			r.nodes(c.body)
			return
		}
	}
	r.nodes(n.orElse)
}

func (r *renderer) holds(terms []term) bool {
	all := true
	for _, t := range terms {
		if t.or {
			if all {
				return true
			}
			all = true
		}
		got := r.get(t.value)
		holds := got != "" && got != "0" && got != "0.0"
		switch t.compare {
		case "==":
			holds = got == r.get(t.with)
		case "!=":
			holds = got != r.get(t.with)
		}
		all = all && holds != t.not
	}
	return all
}

func (r *renderer) get(v value) string {
	text := v.literal
	switch {
	case v.field != nil:
		text = v.field(r.items[v.item])
	case v.get != nil:
		text = v.get(r.values)
	default:
		return text
	}
	for _, filter := range v.filters {
		text = filter(text)
	}
	return oneLine(text)
}

// trailerLike is a text that git would take for a trailer at the start of a line.
var trailerLike = regexp.MustCompile(`^[A-Za-z0-9-]+[ \t]*:|^\(cherry picked from|^---`)

var webAddress = regexp.MustCompile(`^https?://\S*$`)

// write writes a value. One that begins a line and looks like a trailer is put in quotes.
func (r *renderer) write(text string) {
	if s := r.out.String(); (s == "" || strings.HasSuffix(s, "\n")) && trailerLike.MatchString(text) && !webAddress.MatchString(text) {
		text = `"` + text + `"`
	}
	r.out.WriteString(text)
}

// oneLine makes a value one line of bounded length.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || 0x7F <= r && r < 0xA0 || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if s = strings.TrimSpace(s); len(s) > maxValue {
		s = strings.ToValidUTF8(s[:maxValue], "") + "…"
	}
	return s
}

// tidy cleans a message up as git does, and cuts it.
func tidy(s string) string {
	var out strings.Builder
	blank := false
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' || r == 0x7F {
				return -1
			}
			return r
		}, strings.ToValidUTF8(line, "\uFFFD")), " \t")
		if line == "" {
			blank = true
			continue
		}
		if out.Len()+len(line)+2 > maxMessage {
			break
		}
		if blank && out.Len() > 0 {
			out.WriteByte('\n')
		}
		blank = false
		out.WriteString(line + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}
