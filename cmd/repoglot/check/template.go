package check

import (
	"errors"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// namedStrings is the number of strings that a message about many of them quotes.
const namedStrings = 3

// templateFindings compares a file with its template: what msgmerge would add, and what
// it would make obsolete.
func templateFindings(f, template *poparse.File) []Finding {
	r, err := msgmerge.Merge(f, template, msgmerge.Options{})
	if err != nil {
		return []Finding{warning(f.Name, 1, 1, CodeTemplateRefused, err.Error())}
	}
	var list []Finding
	if missing := append(r.Added, r.Reworded...); len(missing) > 0 {
		text := fmt.Sprintf("%s of %s that the file lacks: %s", Quantity(len(missing), "string"), template.Name, quoted(missing))
		if n := len(r.Reworded); n > 0 {
			text += fmt.Sprintf("; for %d of them it has the text of a similar string", n)
		}
		line := 1
		if f.Header != nil {
			line = f.Header.KeywordLine
		}
		list = append(list, warning(f.Name, line, 1, CodeTemplateMissing, text))
	}
	if len(r.Gone) > 0 {
		text := fmt.Sprintf("%s of the file that %s does not have: %s", Quantity(len(r.Gone), "string"), template.Name, quoted(r.Gone))
		list = append(list, warning(f.Name, r.Gone[0].KeywordLine, 1, CodeTemplateGone, text))
	}
	return list
}

// quoted quotes the first entries' sources, with their lines.
func quoted(list []*poparse.Entry) string {
	var parts []string
	for i, e := range list {
		if i == namedStrings {
			return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", len(list)-i)
		}
		parts = append(parts, fmt.Sprintf("%q (line %d)", catalog.Clip(e.ID, quotedLength), e.KeywordLine))
	}
	return strings.Join(parts, ", ")
}

// Quantity returns "1 file" or "2 files".
func Quantity(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// quotedLength bounds a quoted source, in characters.
const quotedLength = 40

// ErrTemplate: the file that is named as the template cannot be used as one.
var ErrTemplate = errors.New("no template")

// ParseTemplate reads the file that others are compared with. The error is ErrTemplate.
func ParseTemplate(name string, data []byte) (*poparse.File, error) {
	f, err := poparse.Parse(name, data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTemplate, err)
	}
	if len(f.Entries) == 0 {
		return nil, fmt.Errorf("%s: %w: it has no strings", name, ErrTemplate)
	}
	return f, nil
}
