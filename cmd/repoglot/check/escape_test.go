package check_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/repoglot/repoglot/cmd/repoglot/check"
)

func TestPrintable(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"po/cs.po: Loď", "po/cs.po: Loď"},
		{"", ""},
		{"a\x1b[2Jb", `a\x1b[2Jb`},
		{"a\nb\r\tc", `a\nb\r\tc`},
		{"\x00\x07\x7f", `\x00\a\x7f`},
		{"\u009b31m", `\u009b31m`},
		{"a\u202eb\u2028\ufeff", `a\u202eb\u2028\ufeff`},
		{"\U000e0001", `\U000e0001`},
		{"a\xffb\xc3", `a\xffb\xc3`},
		{"a\ufffdb", "a\ufffdb"},
		{`a\b'c"`, `a\b'c"`},
		{"##[add-mask]x ##vso[a.b]", `#\x23[add-mask]x #\x23vso[a.b]`},
		{"## Title, C##", "## Title, C##"},
	} {
		if got := check.Printable(tt.in); got != tt.want {
			t.Errorf("Printable(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// hostile are names and texts that try to control terminals and logs.
func hostile() []string {
	return []string{
		"a\x1b]0;title\x07.po", "a\u009b31m.po", "a\n::error::x.po", "a\r\n::error file=x::y.po", "::add-mask::a.po", " ::stop-commands::x.po",
		"a%0A::error::b.po", "a,line=1::b.po", "a\u2028b\u202e.po", "a\xff\xfe.po", `a"],"x":"b.po`, "a\U000e0001b.po", "a\x7f.po",
		"##[add-mask]a.po", "##vso[task.setvariable]a.po", "###teamcity[a].po",
	}
}

// TestInjection renders hostile names and messages: a finding is one printable
// line, and JSON has the same strings.
func TestInjection(t *testing.T) {
	for _, evil := range hostile() {
		finding := check.Finding{File: evil, Line: 3, Column: 4, Severity: check.Error, Code: check.CodeUnreadable, Message: evil}
		result := check.Result{File: evil, Findings: []check.Finding{finding}}
		for _, format := range check.Formats() {
			var out strings.Builder
			r, err := check.NewReport(&out, check.ReportOptions{Format: format})
			must(t, err)
			must(t, r.File(result))
			must(t, r.Close())
			got := out.String()
			allPrints(t, got)
			switch format {
			case check.FormatText:
				if strings.Count(got, "\n") != 1 || strings.HasPrefix(strings.TrimSpace(got), "::") {
					t.Errorf("text %q", got)
				}
			case check.FormatGitHub:
				if want := workflowCommand(t, got); want["title"] != "repoglot check: unreadable" || want["line"] != "3" || want["col"] != "4" {
					t.Errorf("command %q: %v", got, want)
				}
			case check.FormatJSON:
				var all struct {
					Findings []struct{ File, Message string }
				}
				if err := json.Unmarshal([]byte(got), &all); err != nil {
					t.Fatalf("%v: %s", err, got)
				}
				if want := strings.ToValidUTF8(evil, "\ufffd\ufffd"); len(all.Findings) != 1 || all.Findings[0].File != want || all.Findings[0].Message != want {
					t.Errorf("%q became %+v", evil, all.Findings)
				}
			case check.FormatSARIF:
				validSARIF(t, got)
			}
		}
	}
}

// workflowCommand reads a command as the runner does (actions/runner,
// ActionCommand.TryParseV2).
func workflowCommand(t *testing.T, text string) map[string]string {
	t.Helper()
	if strings.Count(text, "\n") != 1 {
		t.Errorf("not one line: %q", text)
	}
	head, data, ok := strings.Cut(strings.TrimPrefix(text, "::"), "::")
	name, properties, ok2 := strings.Cut(head, " ")
	if !ok || !ok2 || name != "error" {
		t.Fatalf("no command: %q", text)
	}
	unescape := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	m := map[string]string{"": unescape.Replace(data)}
	for property := range strings.SplitSeq(properties, ",") {
		key, value, _ := strings.Cut(property, "=")
		if _, repeated := m[key]; repeated {
			t.Errorf("%q has the property %s twice", text, key)
		}
		m[key] = unescape.Replace(value)
	}
	return m
}

func allPrints(t testing.TB, s string) {
	t.Helper()
	for line := range strings.Lines(s) {
		for _, r := range strings.TrimSuffix(line, "\n") {
			if !strconv.IsPrint(r) {
				t.Fatalf("%q is in the output: %q", r, line)
			}
		}
	}
	if regexp.MustCompile(`##[a-zA-Z]*\[`).MatchString(s) {
		t.Fatalf("a command of a CI system is in the output: %q", s)
	}
	if !utf8.ValidString(s) {
		t.Fatalf("not UTF-8: %q", s)
	}
}

// TestGitHubRoundTrip: the runner reads the same names and messages.
func TestGitHubRoundTrip(t *testing.T) {
	for _, s := range []string{"po/cs.po", "a: b, c=d", "100%", "%0A%25", "a\nb\r\nc", "::x::"} {
		var out strings.Builder
		r, err := check.NewReport(&out, check.ReportOptions{Format: check.FormatGitHub})
		must(t, err)
		f := check.Finding{File: s, Line: 1, Column: 1, Severity: check.Error, Code: check.CodeUnreadable, Message: s}
		must(t, r.File(check.Result{Findings: []check.Finding{f}}))
		if m := workflowCommand(t, strings.TrimSuffix(out.String(), "\n")+"\n"); m["file"] != s || m[""] != s+"\n" {
			t.Errorf("%q: %q", s, m)
		}
	}
}

func FuzzReport(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, name, msg string) {
		result := check.Result{File: name, Parsed: true, Findings: []check.Finding{
			{File: name, Line: 1, Column: 1, Severity: check.Warning, Code: "nul", Message: msg},
		}}
		for _, o := range []check.ReportOptions{{Stats: true}, {Format: check.FormatJSON, Stats: true}, {Format: check.FormatGitHub}, {Format: check.FormatSARIF}} {
			var out strings.Builder
			r, err := check.NewReport(&out, o)
			must(t, err)
			if r.File(result) != nil || r.Close() != nil {
				t.Fatal("no report")
			}
			allPrints(t, out.String())
			if (o.Format == check.FormatJSON || o.Format == check.FormatSARIF) && !json.Valid([]byte(out.String())) {
				t.Fatalf("not JSON: %q", out.String())
			}
		}
	})
}
