package check

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog/checks"
)

// Bounds of a message: the number of excerpts of a string, and the characters of
// each.
const (
	shownPlaces = 3
	shownChars  = 24
	shownWhole  = 8 // bytes of a string that is shown as a whole
)

// qualityMessage describes a failure, with the words of the two strings if they say
// more than the position in the file.
func qualityMessage(c checks.Check, u *checks.Unit, f *checks.Failure) string {
	var sides []string
	if f.SourceForm < len(u.Sources) {
		if words := excerpts(u.Sources[f.SourceForm], f.Source, f.Sources); words != "" {
			sides = append(sides, "source: "+words)
		}
	}
	if !u.IsSource && f.Form < len(u.Targets) {
		if words := excerpts(u.Targets[f.Form], f.Target, f.Targets); words != "" {
			sides = append(sides, "translation: "+words)
		}
	}
	message := c.Title + ": " + c.Description
	if len(sides) > 0 {
		message += " Here: " + strings.Join(sides, "; ") + "."
	}
	return message
}

// reusedMessage names the line of another string with the translation.
func reusedMessage(c checks.Check, line int) string {
	return fmt.Sprintf("%s: %s Here: line %d has it, too.", c.Title, c.Description, line)
}

// excerpts returns the pieces of a string at some spans, in order and in quotes; ""
// if they are empty or the whole of a long string.
func excerpts(s string, one checks.Span, several []checks.Span) string {
	if len(several) == 0 {
		several = []checks.Span{one}
	}
	var quoted []string
	at, bytes := 0, 0 // the same place, in characters and in bytes
	move := func(to int) {
		for ; at < to && bytes < len(s); at++ {
			_, n := utf8.DecodeRuneInString(s[bytes:])
			bytes += n
		}
	}
	for i, place := range several {
		if i == shownPlaces {
			quoted = append(quoted, "…")
			break
		}
		move(place.From)
		from := bytes
		move(min(place.To, place.From+shownChars))
		cut := at < place.To
		if from == bytes || from == 0 && (cut || bytes == len(s) && len(s) > shownWhole) {
			continue
		}
		text := strconv.Quote(s[from:bytes])
		if move(place.To); cut {
			text += "…"
		}
		quoted = append(quoted, text)
	}
	return strings.Join(quoted, ", ")
}
