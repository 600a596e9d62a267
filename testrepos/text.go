package testrepos

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// edit is a block of (edit): the old lines, which must be in the text exactly once,
// at the beginning of a line, and the new ones. Without old lines it appends.
type edit struct {
	old, new string
}

// parseEdits reads blocks of <<<<, old lines, ====, new lines, >>>>.
func parseEdits(text []byte) ([]edit, error) {
	const outside, inOld, inNew = 0, 1, 2
	var edits []edit
	state := outside
	for line := range strings.Lines(string(text)) {
		mark := strings.TrimRight(line, "\n")
		switch {
		case state == outside && mark == "<<<<":
			edits = append(edits, edit{})
			state = inOld
		case state == inOld && mark == "====":
			state = inNew
		case state == inNew && mark == ">>>>":
			state = outside
		case state == outside && strings.TrimSpace(mark) != "":
			return nil, fmt.Errorf("edit: %q is outside of <<<< … ==== … >>>>", mark)
		case state == inOld:
			edits[len(edits)-1].old += line
		case state == inNew:
			edits[len(edits)-1].new += line
		}
	}
	if state != outside {
		return nil, fmt.Errorf("edit: a block does not end in >>>>")
	}
	return edits, nil
}

func applyEdits(text, script []byte) ([]byte, error) {
	edits, err := parseEdits(script)
	if err != nil {
		return nil, err
	}
	s := string(text)
	for _, e := range edits {
		if e.old == "" {
			s += e.new
			continue
		}
		at, n := findLines(s, e.old)
		if n != 1 {
			return nil, fmt.Errorf("edit: the lines %q are %d times in the present text, want once", e.old, n)
		}
		s = s[:at] + e.new + s[at+len(e.old):]
	}
	return []byte(s), nil
}

// findLines returns the offset of the last occurrence of old at the beginning of a
// line, and the number of occurrences.
func findLines(s, old string) (at, n int) {
	for from := 0; ; {
		i := strings.Index(s[from:], old)
		if i < 0 {
			return at, n
		}
		if i += from; i == 0 || s[i-1] == '\n' {
			at = i
			n++
		}
		from = i + 1
	}
}

// repeat writes the part above the line %% once and the part below it n times, with
// {n} counting from 1 and {nn} padded to seven digits.
func repeat(text []byte, n int) []byte {
	head, body, ok := bytes.Cut(text, []byte("%%\n"))
	if !ok {
		head, body = nil, text
	}
	var out bytes.Buffer
	out.Grow(len(head) + n*(len(body)+8))
	out.Write(head)
	for i := 1; i <= n; i++ {
		b := bytes.ReplaceAll(body, []byte("{n}"), strconv.AppendInt(nil, int64(i), 10))
		out.Write(bytes.ReplaceAll(b, []byte("{nn}"), fmt.Appendf(nil, "%07d", i)))
	}
	return out.Bytes()
}

// shiftReferences adds by to every line number in #: comments, as a refactoring of
// the program does to all its PO files.
func shiftReferences(text []byte, by int) []byte {
	number := regexp.MustCompile(`:\d+`)
	lines := strings.SplitAfter(string(text), "\n")
	for i, l := range lines {
		if !strings.HasPrefix(l, "#:") {
			continue
		}
		lines[i] = "#:" + number.ReplaceAllStringFunc(l[2:], func(m string) string {
			n, err := strconv.Atoi(m[1:])
			if err != nil { // a number beyond int is kept
				return m
			}
			return ":" + strconv.Itoa(n+by)
		})
	}
	return []byte(strings.Join(lines, ""))
}
