package export

import (
	"bufio"
	"cmp"
	_ "embed" // of formats.xml
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/template"

	"github.com/repoglot/repoglot/catalog"
)

//go:embed formats.xml
var formats string

// templates parses the formats once: documents, and the parts of a workbook.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"xml": escaped, "tag": tag, "cell": cellText, "locations": locations,
	}).Parse(formats))
})

// document is what the templates show.
type document struct {
	*Head
	Units   Units
	Version string // of XLIFF
	rows    int    // of the sheet
}

// write returns the writer of a template. It is called with each unit before the next one is
// read, so that no more than one is in memory.
func (d document) write(name string) func(w io.Writer, head *Head, units Units) error {
	return func(w io.Writer, head *Head, units Units) error {
		d.Head, d.Units = head, units
		return d.part(w, name)
	}
}

func (d *document) part(w io.Writer, name string) error {
	out := bufio.NewWriter(w)
	out.WriteString(xml.Header)
	if err := templates().ExecuteTemplate(out, name, d); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return out.Flush()
}

// Original names the file of a document.
func (d *document) Original() string { return cmp.Or(d.Filename, d.Project+"/"+d.Component) }

// Pairs are the forms of the next unit, or the error that ends the sequence.
func (d *document) Pairs(u *catalog.Unit, err error) ([]pair, error) {
	if err != nil {
		return nil, err
	}
	return pairs(d.Head, u), nil
}

// escaped returns s as XML text. XML 1.0 has no control characters: each becomes U+FFFD.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

// tag is the language code for xml:lang (BCP 47).
func tag(code string) string {
	code, variant, _ := strings.Cut(code, "@")
	if script, ok := map[string]string{"latin": "Latn", "cyrillic": "Cyrl", "arabic": "Arab"}[variant]; ok {
		code += "-" + script
	}
	return escaped(strings.ReplaceAll(code, "_", "-"))
}

// locations splits references into files and lines.
func locations(s string) (list [][2]string) {
	if s == "" {
		return nil
	}
	for location := range strings.SplitSeq(s, ", ") {
		file, line, _ := strings.Cut(location, ":")
		list = append(list, [2]string{file, line})
	}
	return list
}
