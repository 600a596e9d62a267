package catalog

import (
	"slices"
	"strings"
)

// OwnComment returns a unit's comment: the lines of its translator comments that the
// comments of the template's entry do not have, without blank lines at both ends. It
// is "" if only blank lines are left.
func OwnComment(comment, template string) string {
	if template == "" {
		return strings.Trim(comment, "\n")
	}
	if comment == template {
		return ""
	}
	has := strings.Split(template, "\n")
	var lines []string
	for line := range strings.SplitSeq(comment, "\n") {
		if !slices.Contains(has, line) {
			lines = append(lines, line)
		}
	}
	if own := strings.Join(lines, "\n"); strings.TrimSpace(own) != "" {
		return strings.Trim(own, "\n")
	}
	return ""
}

// TranslatorNote returns the translator comments of Note.
func (u *Unit) TranslatorNote() string { return u.Note[:u.TranslatorBytes] }
