package poparse

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/poparse/gettexttest"
)

// verdicts are the results of msgfmt and of this package for the same bytes.
type verdicts struct {
	data []byte
	// file is nil if we refuse the bytes; err is then the reason.
	file *File
	err  *SyntaxError
	// complaints are msgfmt's errors, nil if it accepts the bytes.
	complaints []string
	// got are our counts, want the counts of msgfmt, if it accepts.
	got, want gettexttest.Counts
	// all are our errors if we refuse the bytes.
	all []*SyntaxError
}

// A difference from msgfmt 0.21 that docs/po.md intends. Nothing else is left out
// of the comparisons.
type difference struct {
	// row is the section and first cell of the row that intends it.
	row string
	// complaint covers errors of msgfmt on bytes that we accept.
	complaint func(v *verdicts, complaint string) bool
	// verdict covers bytes that we refuse, or whose entries we count differently.
	verdict func(v *verdicts) bool
}

func differences() []difference {
	says := func(parts ...string) func(*verdicts, string) bool {
		return func(_ *verdicts, complaint string) bool {
			for _, part := range parts {
				if strings.Contains(complaint, part) {
					return true
				}
			}
			return false
		}
	}
	return []difference{
		{row: "differences-from-gettext/`msgid` that begins or ends with a line feed, `msgstr` that does not", complaint: says("do not both begin with", "do not both end with")},
		{row: "duplicates/two live entries with the same `msgctxt` and `msgid`", complaint: says("duplicate message definition")}, // and a second header
		{row: "encoding/U+0004 in a string", complaint: says("context separator <EOT>")},
		{row: "plural-forms/indices out of order, repeated or with gaps", complaint: says("wrong index", "nonzero index")},
		{row: "encoding/byte order mark", complaint: func(v *verdicts, _ string) bool { return bytes.HasPrefix(v.data, []byte("\xef\xbb\xbf")) }},
		// We decode first, msgfmt in a UTF-8 locale does not.
		{row: "encoding/second byte 0x5C", complaint: func(v *verdicts, complaint string) bool {
			return v.file != nil && strings.Contains(complaint, "invalid control sequence") && hasTrailingBackslashes(v.file.Charset)
		}},
		// gettext joins a line that ends in a backslash with the next one, in
		// strings and comments.
		{row: "lines/backslash at the end of a line", complaint: func(v *verdicts, _ string) bool { return v.joined() }},
		{row: "lines/backslash at the end of a line", verdict: func(v *verdicts) bool { return v.err == nil && v.joined() }},
		{row: "errors/quote without a backslash inside a string, string that is not closed on its line, text outside of strings, markers of a merge conflict", verdict: func(v *verdicts) bool {
			return v.err != nil && (v.err.Code == ErrUnclosed || v.err.Code == ErrText) && v.joined()
		}},
		{row: "lines/text after a string on its line", verdict: func(v *verdicts) bool {
			return v.err != nil && v.err.Code == ErrAfterString && v.joined()
		}},
		{row: "encoding/charset that `golang.org/x/text` does not have, such as TSCII", verdict: func(v *verdicts) bool {
			return v.err != nil && v.err.Code == ErrCharset
		}},
		// msgfmt does not look into comments.
		{row: "encoding/bytes that are not text in the declared charset", verdict: func(v *verdicts) bool {
			return v.err != nil && v.err.Code == ErrBytes &&
				bytes.HasPrefix(v.data[bytes.LastIndexByte(v.data[:v.err.Offset], '\n')+1:], []byte("#"))
		}},
		// An empty header is a header; msgfmt counts it as untranslated.
		{row: "header/header with an empty `msgstr`", verdict: func(v *verdicts) bool {
			return v.err == nil && v.file.Header != nil && v.file.Header.Str[0] == "" &&
				v.want == gettexttest.Counts{Translated: v.got.Translated, Fuzzy: v.got.Fuzzy, Untranslated: v.got.Untranslated + 1}
		}},
		{row: "flags/several flag lines of one entry", verdict: func(v *verdicts) bool {
			return v.err == nil && flagLines.Match(v.data) && v.got.Untranslated == v.want.Untranslated &&
				v.got.Fuzzy > v.want.Fuzzy && v.got.Translated+v.got.Fuzzy == v.want.Translated+v.want.Fuzzy
		}},
	}
}

// flagLines finds several flag lines of one entry; the first one may be after a string
// of the entry before.
var flagLines = regexp.MustCompile(`(?m)#,.*\n((#[^,].*)?\n)*#,`)

// hasTrailingBackslashes reports whether 0x5C may be a second byte in a charset.
func hasTrailingBackslashes(charset string) bool {
	switch strings.ToUpper(charset) {
	case "CP932", "SHIFT_JIS", "SJIS", "BIG5", "CP950":
		return true
	}
	return false
}

// joined reports whether there are lines that end in a backslash, and we agree with
// msgfmt, except for other intended differences, after they are joined.
func (v *verdicts) joined() bool {
	data := bytes.ReplaceAll(v.data, []byte("\\\n"), nil)
	if len(data) == len(v.data) {
		return false
	}
	other := verdicts{data: data, complaints: v.complaints, want: v.want}
	other.parse()
	return other.unintended() == ""
}

// parse fills in our results.
func (v *verdicts) parse() {
	f, err := Parse("x.po", v.data)
	if err != nil {
		errors.As(err, &v.err)
		v.all, _ = Errors("x.po", v.data)
		return
	}
	v.file = f
	v.got = count(f)
}

// unintended describes a difference, "" if both agree or differ on purpose.
func (v *verdicts) unintended() string {
	switch {
	case len(v.complaints) > 0 && v.err != nil:
		return v.positions()
	case len(v.complaints) > 0:
		for _, complaint := range v.complaints {
			if !v.intends(func(d difference) bool { return d.complaint != nil && d.complaint(v, complaint) }) {
				return "only msgfmt fails: " + complaint
			}
		}
		return ""
	case v.err == nil && v.got == v.want, v.intends(func(d difference) bool { return d.verdict != nil && d.verdict(v) }):
		return ""
	case v.err != nil:
		return "only we fail: " + v.err.Error()
	}
	return fmt.Sprintf("%v, msgfmt says %v", v.got, v.want)
}

func (v *verdicts) intends(covers func(difference) bool) bool {
	for _, d := range differences() {
		if covers(d) {
			return true
		}
	}
	return false
}

// compareWithMsgfmt describes an unintended difference, or one between the bytes read
// and written; "" without one.
func compareWithMsgfmt(t *testing.T, data []byte) string {
	v := verdicts{data: data}
	want, output := gettexttest.Msgfmt(t, data)
	v.want = want
	v.complaints = complaints(output)
	v.parse()
	if diff := v.unintended(); diff != "" || v.err != nil {
		return diff
	}
	var written bytes.Buffer
	if _, err := v.file.WriteTo(&written); err != nil || !bytes.Equal(written.Bytes(), data) {
		return fmt.Sprintf("not written as it was read: %v", err)
	}
	return ""
}

// positions describes a wrong position of our errors, "" without one. The first error
// must be on the line of an error of msgfmt, and msgfmt may not have an error of another
// kind before it.
func (v *verdicts) positions() string {
	first := v.err
	if !slices.ContainsFunc(v.all, func(e *SyntaxError) bool { return *e == *first }) {
		return fmt.Sprintf("Parse has %v, Errors has %v", first, v.all)
	}
	// Joined lines have other numbers.
	if bytes.Contains(v.data, []byte("\\\n")) || v.intends(func(d difference) bool { return d.verdict != nil && d.verdict(v) }) {
		return ""
	}
	found := false
	for _, c := range v.complaints {
		line, ok := complaintLine(c)
		switch {
		case !ok:
		case first.Code == ErrBytes: // msgfmt does not look into the header either
			found = found || slices.ContainsFunc(v.all, func(e *SyntaxError) bool { return e.Code == ErrBytes && e.Line == line })
		case sameFault(v.data, first, line):
			found = true
		case v.intends(func(d difference) bool { return d.complaint != nil && d.complaint(v, c) }):
		case line < first.Line && !strings.Contains(c, "missing 'msg"): // said of an entry of which the rest is missing for what we see
			return fmt.Sprintf("our first error is %v, but msgfmt has %s", first, c)
		}
	}
	if !found {
		return fmt.Sprintf("msgfmt has no error for %v: %s", first, strings.Join(v.complaints, "; "))
	}
	return ""
}

// sameFault reports whether an error of msgfmt on a line can be our error. msgfmt names
// the token at which it gives up. If the end of a construct is missing, line ends,
// comments and other strings may come before that token.
func sameFault(data []byte, e *SyntaxError, line int) bool {
	switch e.Code {
	case ErrUnclosed, ErrNoString, ErrNoMsgid, ErrPrevious, ErrTruncated, ErrLooseString, ErrMixed, ErrPlural:
	default:
		return e.Line == line
	}
	if line <= e.Line {
		return e.Line == line
	}
	lines := bytes.Split(data, []byte("\n"))
	for _, between := range lines[min(e.Line, len(lines)):min(line-1, len(lines))] {
		if between = bytes.TrimSpace(between); len(between) > 0 && between[0] != '#' && between[0] != '"' && (e.Code != ErrPlural || !bytes.HasPrefix(between, []byte("msgstr"))) {
			return false
		}
	}
	return true
}

// complaintLine is the line that an error of msgfmt names, if it does.
func complaintLine(complaint string) (line int, ok bool) {
	rest, ok := strings.CutPrefix(complaint, "<stdin>:")
	if !ok {
		return 0, false
	}
	n, err := fmt.Sscanf(rest, "%d:", &line)
	return line, n == 1 && err == nil
}

// complaints returns the errors in the output of msgfmt, or all of it if no line has the
// usual form.
func complaints(output string) (list []string) {
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "<stdin>:") && !strings.Contains(line, "warning: ") && !strings.Contains(line, "this is the location of the first definition") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	if list == nil && output != "" {
		list = []string{output}
	}
	return list
}

// TestDifferencesAreDecided finds differences that docs/po.md does not have.
func TestDifferencesAreDecided(t *testing.T) {
	rows := semanticRows(t)
	for _, d := range differences() {
		if !slices.Contains(rows, d.row) {
			t.Errorf("docs/po.md has no row %q", d.row)
		}
	}
}
