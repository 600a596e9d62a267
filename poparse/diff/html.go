package diff

import (
	_ "embed" // of page.html
	"html/template"
	"io"
	"sync"
)

//go:embed page.html
var pageText string

// page is the template of WriteHTML.
var page = sync.OnceValues(func() (*template.Template, error) {
	return template.New("page").Funcs(template.FuncMap{
		"visible": visible, "number": number, "full": full,
		"item": func(s *String) item { return s.item() }, "told": func(r *Report, f File) []*String { return f.Told(len(r.Files) > 1) },
		"fields": func(f File) []item { return f.fields() }, "line": func(f File) string { return f.line() },
		"sources": func(r *Report) []*String { return r.toldSources() }, "ignored": func(r *Report) string { return r.ignored() },
		"words": func(c Counts) string { return c.words(counts[:]) },
	}).Parse(pageText)
})

// WriteHTML writes a report as a page that needs no other file.
func WriteHTML(w io.Writer, r *Report) error {
	t, err := page()
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}
