package checks

import (
	"unicode/utf8"
)

// Span is a piece of a string, in code points. From == To marks a place.
type Span struct{ From, To int }

// Failure is one finding of a check.
type Failure struct {
	// Form is the plural form of the target, from 0; of the source for a
	// source check.
	Form int
	// SourceForm is the plural form of the source that Source lies in.
	SourceForm int
	// Source and Target say where in the two strings it is: the first place
	// of each.
	Source, Target Span
	// Sources and Targets are all places, up to 100, where it is in several;
	// else nil.
	Sources, Targets []Span
}

// maxPlaces bounds the places of a failure: nobody reads more of them.
const maxPlaces = 100

// points makes code points of bytes, of one place or of several in order. What
// lies within an earlier place, as an image within a link, goes.
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
