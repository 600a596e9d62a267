package diff

import (
	"bytes"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// Show writes a file in a canonical form, in UTF-8, without references, dates and line breaks of its
// own: two files are shown alike exactly if they have the same entries in the same order. A file that
// cannot be read is shown as it is, with the error.
func Show(path string, data []byte) ([]byte, error) {
	f, err := poparse.Parse(path, data)
	if err != nil {
		return data, err
	}
	out := &poparse.File{Name: path, NoWrap: true}
	plain := func(e *poparse.Entry) *poparse.Entry {
		n := *e
		n.Line, n.KeywordLine, n.References = 0, 0, nil
		n.Flags = slices.Sorted(slices.Values(e.Flags))
		return &n
	}
	if f.Header != nil {
		out.Header = plain(f.Header)
		var b strings.Builder
		for line := range strings.Lines(f.Header.Str[0]) {
			name, _, _ := strings.Cut(line, ":")
			switch name = strings.ToLower(strings.TrimSpace(name)); {
			case name == "content-type":
				b.WriteString("Content-Type: text/plain; charset=UTF-8\n")
			case !slices.Contains(passing, name):
				b.WriteString(line)
			}
		}
		out.Header.Str = []string{b.String()}
	}
	for _, e := range f.OtherHeaders {
		out.OtherHeaders = append(out.OtherHeaders, plain(e))
	}
	for _, e := range f.Entries {
		out.Entries = append(out.Entries, plain(e))
	}
	var b bytes.Buffer
	if _, err := out.WriteTo(&b); err != nil {
		return data, err
	}
	return b.Bytes(), nil
}
