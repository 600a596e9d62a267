package poparse

import (
	"slices"
	"strings"
)

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
func fuzzyLines(c, was *Entry, text string, kinds []commentKind) []string {
	if c.Fuzzy == was.Fuzzy || !slices.Equal(c.Flags, was.Flags) {
		return nil
	}
	lines := slices.Collect(strings.Lines(text))
	set := false
	for i, kind := range kinds {
		if kind != commentFlag || c.Fuzzy && (set || lines[i][strings.IndexByte(lines[i], '#')+1] == '=') {
			continue // "#=" is a comment for programs before gettext 0.25
		}
		ok := true
		if c.Fuzzy {
			lines[i], set = withFuzzy(lines[i]), true
		} else if lines[i], ok = withoutFuzzy(lines[i]); !ok {
			return nil
		}
	}
	if c.Fuzzy && !set {
		return nil
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
