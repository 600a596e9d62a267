package edit

import (
	"regexp"
	"slices"
	"strings"
)

// linguasWord is a code in a file LINGUAS, or a comment.
var linguasWord = regexp.MustCompile(`#.*|[^\s#]+`)

// word is a code in a file LINGUAS: where it is, where its line is, and whether that has no
// other one.
type word struct {
	code                string
	from, to, line, end int
	alone               bool
}

// Linguas adds a language to a file LINGUAS, or removes it. The file has codes between
// blanks and line ends, and comments after "#" (gettext manual, "po/LINGUAS"). A new code
// goes where the others are: into a line of several, else on a line of its own; before the
// first code that sorts after it, if all are sorted. The bytes stay if nothing is to be done.
func Linguas(data []byte, code string, add bool) []byte {
	text, at := string(data), 0
	var words []word
	for line := range strings.SplitAfterSeq(text, "\n") {
		found := linguasWord.FindAllStringIndex(line, -1)
		found = slices.DeleteFunc(found, func(is []int) bool { return line[is[0]] == '#' })
		for _, is := range found {
			words = append(words, word{line[is[0]:is[1]], at + is[0], at + is[1], at, at + len(line), len(found) == 1})
		}
		at += len(line)
	}
	has := slices.IndexFunc(words, func(w word) bool { return w.code == code })
	switch {
	case add == (has >= 0):
	case add:
		text = withWord(text, words, code)
	default:
		text = withoutWord(text, words[has])
	}
	return []byte(text)
}

// withoutWord removes a code, with its line if it is alone there.
func withoutWord(text string, w word) string {
	switch {
	case w.alone:
		return text[:w.line] + text[w.end:]
	case strings.TrimSpace(text[w.line:w.from]) == "": // the first
		return text[:w.from] + strings.TrimLeft(text[w.to:], " \t")
	}
	return strings.TrimRight(text[:w.from], " \t") + text[w.to:]
}

// withWord adds a code.
func withWord(text string, words []word, code string) string {
	end := "\n"
	if first, _, _ := strings.Cut(text, "\n"); strings.HasSuffix(first, "\r") {
		end = "\r\n"
	}
	sorted := slices.IsSortedFunc(words, func(a, b word) int { return strings.Compare(a.code, b.code) })
	if next := slices.IndexFunc(words, func(w word) bool { return sorted && w.code > code }); next >= 0 {
		if w := words[next]; w.alone {
			return text[:w.line] + code + end + text[w.line:]
		}
		return text[:words[next].from] + code + " " + text[words[next].from:]
	}
	at := len(text)
	if len(words) > 0 {
		last := words[len(words)-1]
		if !last.alone {
			return text[:last.to] + " " + code + text[last.to:]
		}
		at = last.end
	}
	if before := text[:at]; before != "" && !strings.HasSuffix(before, "\n") {
		code = end + code
	}
	return text[:at] + code + end + text[at:]
}
