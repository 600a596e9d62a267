package edit

import (
	"regexp"
	"slices"
	"strings"
)

// linguasWord is a code in a file LINGUAS, or a comment.
var linguasWord = regexp.MustCompile(`#.*|[^\s#]+`)

// word is a code in a file LINGUAS: its line, its bytes in there, and how many codes the
// line has.
type word struct{ line, from, to, beside int }

// Linguas adds a language to a file LINGUAS, or removes it. The file has codes between
// blanks and line ends, and comments after "#" (gettext manual, "po/LINGUAS"). A new code
// goes where the others are: into a line of several, else on a line of its own; before the
// first code that sorts after it, if all are sorted. The bytes stay if nothing is to be done.
func Linguas(data []byte, code string, add bool) []byte {
	lines := strings.SplitAfter(string(data), "\n")
	var codes []string
	var words []word
	for i, line := range lines {
		found := linguasWord.FindAllStringIndex(line, -1)
		found = slices.DeleteFunc(found, func(at []int) bool { return line[at[0]] == '#' })
		for _, at := range found {
			codes, words = append(codes, line[at[0]:at[1]]), append(words, word{i, at[0], at[1], len(found)})
		}
	}
	has := slices.Index(codes, code)
	switch {
	case add == (has >= 0):
		return data
	case !add:
		lines = withoutWord(lines, words[has])
	default:
		next := slices.IndexFunc(codes, func(c string) bool { return c > code && slices.IsSorted(codes) })
		lines = withWord(lines, words, next, code)
	}
	return []byte(strings.Join(lines, ""))
}

// withoutWord removes a code, with its line if it is alone there.
func withoutWord(lines []string, w word) []string {
	line := lines[w.line]
	switch {
	case w.beside == 1:
		return slices.Delete(lines, w.line, w.line+1)
	case strings.TrimSpace(line[:w.from]) == "": // the first
		lines[w.line] = line[:w.from] + strings.TrimLeft(line[w.to:], " \t")
	default:
		lines[w.line] = strings.TrimRight(line[:w.from], " \t") + line[w.to:]
	}
	return lines
}

// withWord adds a code before the word of an index, after all if it is negative.
func withWord(lines []string, words []word, next int, code string) []string {
	end := "\n"
	if strings.HasSuffix(lines[0], "\r\n") {
		end = "\r\n"
	}
	w := word{line: len(lines) - 1}
	switch {
	case next >= 0:
		w = words[next]
	case len(words) > 0:
		w = words[len(words)-1]
	}
	line := lines[w.line]
	switch {
	case w.beside > 1 && next >= 0:
		lines[w.line] = line[:w.from] + code + " " + line[w.from:]
		return lines
	case w.beside > 1:
		lines[w.line] = line[:w.to] + " " + code + line[w.to:]
		return lines
	case next >= 0:
		return slices.Insert(lines, w.line, code+end)
	case line != "" && !strings.HasSuffix(line, "\n"):
		lines[w.line] = line + end
	}
	at := w.line + 1
	if line == "" {
		at = w.line
	}
	return slices.Insert(lines, at, code+end)
}
