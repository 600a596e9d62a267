package diff

import (
	_ "embed" // of page.html
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

// WriteHTML writes a report as a page that needs no other file.
func WriteHTML(w io.Writer, r *Report) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"visible": visible, "number": number, "full": full,
		"item": (*String).item, "told": func(r *Report, f File) []*String { return f.Told(len(r.Files) > 1) },
		"fields": func(f File) []item { return f.fields() }, "line": func(f File) string { return f.line() },
		"sources": (*Report).toldSources, "ignored": (*Report).ignored,
		"words": func(c Counts) string { return c.words(counts[:]) },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}
