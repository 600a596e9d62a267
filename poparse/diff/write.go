package diff

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	html "html/template"
	"io"
	"reflect"
	"slices"
	"sort"
	"text/template"
)

//go:embed page.*
var pages embed.FS

// funcs are what the templates call.
func (r *Report) funcs() template.FuncMap {
	return template.FuncMap{
		"visible": visible, "number": number, "full": full,
		"item": (*String).item, "told": func(f *File) []*String { return f.Told(len(r.Files) > 1) },
		"fields": (*File).fields, "line": (*File).line,
		"sources": r.toldSources, "ignored": r.ignored,
		"words": func(c Counts) string { return c.words(counts[:]) },
	}
}

// WriteHTML writes a report as a page that needs no other file.
func WriteHTML(w io.Writer, r *Report) error {
	t, err := html.New("page.html").Funcs(r.funcs()).ParseFS(pages, "page.html")
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}

// WriteText writes a report for a terminal: marked differences are [-old-]{+new+}, or red and green.
func WriteText(w io.Writer, r *Report, color bool) error {
	bold, plain, marks := "", "", map[string][2]string{"del": {"[-", "-]"}, "ins": {"{+", "+}"}}
	if color {
		bold, plain = "\x1b[1m", "\x1b[m"
		marks = map[string][2]string{"del": {"\x1b[31m", plain}, "ins": {"\x1b[32m", plain}}
	}
	t, err := template.New("page.txt").Funcs(r.funcs()).Funcs(template.FuncMap{
		"bold": func(s string) string { return bold + s + plain },
		"mark": func(s Span) string { return marks[s.Kind][0] + s.Text + marks[s.Kind][1] },
	}).ParseFS(pages, "page.txt")
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}

// MaxMarkdown bounds the bytes of WriteMarkdown: GitHub takes 65,536 characters.
const MaxMarkdown = 60_000

// WriteMarkdown writes a report as a comment at a request: the counts first, a table of the
// languages, failing checks that are new, source strings, and what changed in each language: as
// many of each list as fit into MaxMarkdown.
func WriteMarkdown(w io.Writer, r *Report) error {
	most, sources := 0, r.toldSources()
	used := slices.DeleteFunc(slices.Clone(counts[:]), func(k count) bool { return *k.of(&r.Counts) == 0 })
	var whole, changed []*File
	var checks []failing
	for i := range r.Files {
		f := &r.Files[i]
		if f.Status != Changed {
			whole = append(whole, f)
		} else if len(f.Header)+len(f.Told(len(r.Files) > 1)) > 0 {
			changed = append(changed, f)
		}
		for _, c := range f.Checks {
			checks = append(checks, failing{f.Path, c})
		}
	}
	t, err := template.New("page.md").Funcs(r.funcs()).Funcs(template.FuncMap{
		"cell": cell, "code": short, "spans": spans, "path": markup,
		"sources": func() []*String { return sources },
		"whole":   func() []*File { return whole }, "changed": func() []*File { return changed }, "checks": func() []failing { return checks },
		"columns": func() (list []string) {
			for _, k := range used {
				list = append(list, k.noun+"s "+k.verb)
			}
			return list
		},
		"numbers": func(c Counts) (list []string) {
			for _, k := range used {
				n := number(*k.of(&c))
				if n == "0" {
					n = ""
				}
				list = append(list, n)
			}
			return list
		},
		"first": func(list any) any {
			v := reflect.ValueOf(list)
			return v.Slice(0, min(most, v.Len())).Interface()
		},
		"left": func(list any) int { return max(0, reflect.ValueOf(list).Len()-most) },
	}).ParseFS(pages, "page.md")
	if err != nil {
		return err
	}
	var page bytes.Buffer
	fits := func(n int) bool {
		most = n
		page.Reset()
		err = t.Execute(&bounded{&page}, r)
		return err == nil
	}
	longest := MaxMarkdown / 5 // bytes of a line
	if !fits(longest) {
		fits(sort.Search(longest, func(n int) bool { return !fits(n + 1) }))
	}
	if err == nil {
		_, err = w.Write(append(bytes.TrimRight(page.Bytes(), "\n"), '\n'))
	}
	return err
}

// failing is a check with the file of its string.
type failing struct {
	Path string
	Check
}

// bounded is a page of at most MaxMarkdown bytes.
type bounded struct{ *bytes.Buffer }

var errFull = errors.New("the page is full")

// Write fails when the page is full.
func (b *bounded) Write(text []byte) (int, error) {
	if b.Len()+len(text) > MaxMarkdown {
		return 0, fmt.Errorf("%w: %d bytes", errFull, MaxMarkdown)
	}
	return b.Buffer.Write(text)
}
