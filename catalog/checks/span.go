package checks

import (
	"unicode/utf8"
)

// Span is a part of a string, from From up to To, in code points. An empty span
// is a position between two characters.
type Span struct{ From, To int }

// Failure says where a unit fails a check.
type Failure struct {
	// Form is the plural form of the target, from 0; for a source check, of the
	// source.
	Form int
	// SourceForm is the plural form of the source that Source refers to.
	SourceForm int
	// Source and Target are the first place in each of the two strings.
	Source, Target Span
	// Sources and Targets are all places, up to 100; nil if there is one only.
	Sources, Targets []Span
}

// maxPlaces is how many places of a failure are listed.
const maxPlaces = 100

// points converts spans in bytes, one or several in ascending order, to spans in
// code points. A span inside an earlier one, such as an image in a link, is left
// out.
func points(s string, one Span, several []Span) (Span, []Span) {
	if len(several) == 0 {
		several = []Span{one}
	}
	several = several[:min(len(several), maxPlaces)]
	all := make([]Span, 0, len(several))
	at, n := 0, 0
	for i, b := range several {
		if i > 0 && b.To <= at {
			continue
		}
		from := min(max(b.From, at), len(s))
		to := min(max(b.To, from), len(s))
		n += utf8.RuneCountInString(s[at:from])
		chars := utf8.RuneCountInString(s[from:to])
		all = append(all, Span{n, n + chars})
		at, n = to, n+chars
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all[0], all
}
