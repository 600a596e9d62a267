package unit

import (
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// note joins the translator comments and the extracted comments of an entry, in
// this order. The first translators bytes of it are translator comments.
func note(e *poparse.Entry) (text string, translators int) {
	switch {
	case len(e.Comments)+len(e.Extracted) == 0:
		return "", 0
	case len(e.Comments) == 0:
		return joinLines(e.Extracted), 0
	case len(e.Extracted) == 0:
		text = joinLines(e.Comments)
	default:
		text = strings.TrimRight(strings.Join(e.Comments, "\n")+"\n"+strings.Join(e.Extracted, "\n"), "\n")
	}
	translators = len(e.Comments) - 1
	for _, line := range e.Comments {
		translators += len(line)
	}
	translators = min(translators, len(text))
	if strings.TrimSpace(text[:translators]) == "" {
		translators = 0
	}
	return text, translators
}

func joinLines(lines []string) string {
	if len(lines) == 1 {
		return lines[0]
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// previousSource joins the forms of an entry's previous msgid.
func previousSource(e *poparse.Entry) string {
	if e.Previous.IDPlural != "" {
		return e.Previous.ID + catalog.FormSeparator + e.Previous.IDPlural
	}
	return e.Previous.ID
}
