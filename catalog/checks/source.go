package checks

import (
	"strings"
	"unicode/utf8"
)

// optionalPlural finds "file(s)" in a source without plural forms.
func optionalPlural(r *run, s string, _ int) hit {
	if len(r.unit.Sources) > 1 {
		return hit{}
	}
	for from := 0; ; {
		i := strings.Index(s[from:], "(s)")
		if i < 0 {
			return hit{}
		}
		i += from
		from = i + len("(s)")
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[from:])
		if i > 0 && wordRune(before) && (from == len(s) || !wordRune(after)) {
			return hit{failed: true, source: Span{i, from}}
		}
	}
}

// ellipsis finds three full stops instead of one character.
func ellipsis(_ *run, s string, form int) hit {
	i := strings.Index(s, "...")
	if i < 0 || form > 0 {
		return hit{}
	}
	return hit{failed: true, source: Span{i, i + 3}}
}

// unnamedFormat finds several placeholders that only their position identifies.
func unnamedFormat(r *run, s string, form int) hit {
	if form > 0 {
		return hit{}
	}
	for id := range r.flags.runs.And(formats).All() {
		unnamed := 0
		var places []Span
		for at := 0; ; {
			p, ok := syntaxes[id].next(s, at)
			if !ok {
				break
			}
			if at = p.to; p.position && !p.escape {
				unnamed++
				if r.explain {
					places = append(places, Span{p.from, p.to})
				}
				if !r.explain && unnamed == 2 || len(places) == maxPlaces {
					break
				}
			}
		}
		if unnamed >= 2 {
			return hit{failed: true, sources: places}
		}
	}
	return hit{}
}
