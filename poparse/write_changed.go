package poparse

import (
	"slices"
	"strings"
)

// changed writes an entry of which some kinds of lines are unchanged.
func (e *editor) changed(c, was *Entry, s *span, same KindSet) {
	e.comments(c, was, s, same)
	for p, kind := partPrevious, KindPrevious; p < partTranslations; p, kind = p+1, kind+1 {
		if same.Has(kind) {
			e.keep(s.from[p], s.end(p))
			continue
		}
		e.render.nl = lineEnd(e.cursor.text[s.from[p]:s.end(p)], e.nl)
		e.flush(c, func() { e.render.kind(c, kind) })
	}
	if same.Has(KindStr) {
		e.keep(s.from[partTranslations], s.to)
	} else {
		e.translations(c, was, s)
	}
}

// comments writes the comments of an entry, kind by kind. The new lines of a changed
// kind are written where its first line was; if of the flags only fuzzy has changed,
// their lines stay but for it.
func (e *editor) comments(c, was *Entry, s *span, same KindSet) {
	from, to := s.from[partComments], s.end(partComments)
	const all = 1<<commentKinds - 1
	if same&all == all {
		e.keep(from, to)
		return
	}
	e.render.nl = lineEnd(e.cursor.text[from:to], lineEnd(e.cursor.text[to:s.to], e.nl))
	kinds, ok := commentLines(e.cursor.text[from:to])
	if !ok {
		e.flush(c, func() {
			for kind := range commentKinds {
				e.render.kind(c, kind)
			}
		})
		return
	}
	flags := fuzzyLines(c, was, e.cursor.text[from:to], kinds)
	var present, written [commentKinds + 1]bool
	for _, kind := range kinds {
		present[kind] = true
	}
	missing := func(until Kind) {
		for kind := range until {
			if !same.Has(kind) && !written[kind] && !present[kind] {
				written[kind] = true
				e.flush(c, func() { e.render.kind(c, kind) })
			}
		}
	}
	i, line := 0, from
	for text := range strings.Lines(e.cursor.text[from:to]) {
		end, kind := line+len(text), kinds[i]
		again := written[kind]
		if kind != commentKinds { // which is a blank line
			missing(kind)
			written[kind] = !same.Has(kind)
		}
		switch {
		case kind == commentKinds, same.Has(kind), kind == KindFlags && flags != nil && flags[i] == text:
			e.keep(line, end)
		case kind == KindFlags && flags != nil:
			e.flush(c, func() { e.part.WriteString(flags[i]) })
		case !again:
			e.flush(c, func() { e.render.kind(c, kind) })
		}
		i, line = i+1, end
	}
	missing(commentKinds)
}

// commentLines returns the kind of each line of comments, commentKinds for a blank
// line. It returns false if a line has no single kind.
func commentLines(text string) ([]Kind, bool) {
	var kinds []Kind
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		kind := KindComments
		switch {
		case line == "":
			kind = commentKinds
		case line[0] != '#' || len(line) > 1 && strings.IndexByte("~|!", line[1]) >= 0:
			return nil, false
		case len(line) == 1:
		case line[1] == '.':
			kind = KindExtracted
		case line[1] == ':':
			kind = KindReferences
		case line[1] == ',', line[1] == '=':
			kind = KindFlags
		}
		kinds = append(kinds, kind)
	}
	return kinds, true
}

// hasNumbers reports whether text may have octal or hexadecimal escapes.
func hasNumbers(text string) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\\' && (isDigit(text[i+1]) || text[i+1] == 'x') {
			return true
		}
	}
	return false
}

// sameLines compares comments; each of them may have several lines.
func sameLines(a, b []string) bool {
	return slices.Equal(a, b) || len(a) > 0 && len(b) > 0 && strings.Join(a, "\n") == strings.Join(b, "\n")
}

// sameForms compares translations. No translation equals an empty one.
func sameForms(a, b []string) bool {
	return slices.Equal(a, b) || len(a)+len(b) == 1 && strings.Join(a, "")+strings.Join(b, "") == ""
}

// flagAt is where a flag is in a line.
type flagAt struct{ from, to int }

// flagsAt finds the flags of a line, as the parser splits it.
func flagsAt(line string) []flagAt {
	var list []flagAt
	end := len(strings.TrimRight(line, " \t\r\n"))
	for at := strings.IndexByte(line, '#') + len("#,"); ; {
		for at < end && isFlagSpace(rune(line[at])) {
			at++
		}
		if at >= end {
			return list
		}
		f := flagAt{at, at + flagEnd(line[at:end])}
		list, at = append(list, f), f.to
	}
}

// fuzzyLines returns the lines of the comments of an entry of which only the flag fuzzy
// has changed; nil if other flags have, too, or lines would be read differently.
func fuzzyLines(c, was *Entry, text string, kinds []Kind) []string {
	if c.Fuzzy == was.Fuzzy || !slices.Equal(c.Flags, was.Flags) {
		return nil
	}
	lines := slices.Collect(strings.Lines(text))
	set, sticky := false, -1 // the first line "#=": a comment for programs before gettext 0.25
	for i, kind := range kinds {
		switch {
		case kind != KindFlags || c.Fuzzy && set:
			continue
		case c.Fuzzy && lines[i][strings.IndexByte(lines[i], '#')+1] == '=':
			if sticky < 0 {
				sticky = i
			}
			continue
		}
		ok := true
		if c.Fuzzy {
			lines[i], set = withFuzzy(lines[i]), true
		} else if lines[i], ok = withoutFuzzy(lines[i]); !ok {
			return nil
		}
	}
	if c.Fuzzy && !set {
		if sticky < 0 {
			return nil
		}
		line := lines[sticky]
		lines[sticky] = line[:strings.IndexByte(line, '#')] + "#, fuzzy" + lineEnd(line, "\n") + line
	}
	return lines
}

// withFuzzy returns a flag line with the flag fuzzy before the others.
func withFuzzy(line string) string {
	at, flag := strings.IndexByte(line, '#')+len("#,"), " fuzzy"
	if len(flagsAt(line)) > 0 {
		if flag += ","; line[at] != ' ' {
			flag += " "
		}
	}
	return line[:at] + flag + line[at:]
}

// withoutFuzzy returns a flag line without that flag and what is between it and the
// next one, "" if it has no other; false if the others would be read differently.
func withoutFuzzy(line string) (string, bool) {
	name := func(f flagAt) string { return line[f.from:f.to] }
	for {
		list := flagsAt(line)
		i := slices.IndexFunc(list, func(f flagAt) bool { return isFuzzy(name(f)) })
		switch {
		case i < 0:
			return line, true
		case len(list) == 1:
			return "", true
		}
		var others []string
		for _, f := range slices.Delete(slices.Clone(list), i, i+1) {
			others = append(others, name(f))
		}
		if i+1 < len(list) {
			line = line[:list[i].from] + line[list[i+1].from:]
		} else {
			line = line[:list[i-1].to] + line[list[i].to:]
		}
		var now []string
		for _, f := range flagsAt(line) {
			now = append(now, name(f))
		}
		if !slices.Equal(now, others) {
			return "", false
		}
	}
}
