package checks_test

import (
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog/checks"
)

func TestFlagErrors(t *testing.T) {
	for _, c := range []struct {
		flags   string
		unknown bool
		want    string // each part has to be in the answer; "" is none
	}{
		{"", true, ""},
		{`c-format, ignore-same, max-length:10, priority:200, regex:r"^a{2,3}$", placeholders:$A$:r"%[a-z]+%", range: 0..5`, true, ""},
		{"ignore-all-checks, ignore-max-size, ignore-newline-count", true, ""},
		{"no-wrap, csharp-format, gcc-internal-format", false, ""},
		{"csharp-format", true, "csharp-format is no flag"},
		{"c_format", true, "write c-format"},
		{"ignore-smae", false, "no check smae"},
		{"max-length:ten", false, "max-length:ten has no number"},
		{"max-length:-1", false, "no number"},
		{"max-length", false, "no number"},
		{"regex", false, "has no value"},
		{`regex:r"("`, false, "is left out: error parsing regexp"},
		{`regex:r"(?=a)"`, false, "is left out"},
		{`regex:r".{1,999}"`, false, "too large"},
		{`placeholders:a:r"["`, false, `"[" is no regular expression`},
		{`placeholders:"["`, false, ""},
		{"placeholders:" + strings.Repeat("a", 2000), false, "too many or too long"},
		{"icu-message-format, ignore-icu-message-format, icu-flags:strict-xml:-types:-require_other", true, ""},
		{"icu-flags:xml:types", false, `no "types"`},
		{"icu-flags", false, "there is no"},
		{`icu-tag-prefix:"x:"`, true, ""},
		{"icu-tag-prefix:", false, "one value"},
		{"icu-tag-prefix:" + strings.Repeat("a", 101), false, "up to 100 bytes"},
		{"replacements:a", false, "pairs"},
		{"replacements:a:", false, ""},
	} {
		got := strings.Join(checks.FlagErrors(c.flags, c.unknown), "; ")
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%.60q: %q, want %q", c.flags, got, c.want)
		}
	}
	// Whatever turns a check on or off is a flag.
	for _, c := range checks.All() {
		value := map[string]string{"max-length": ":1", "regex": ":a", "placeholders": ":a"}[c.EnableFlag]
		if got := checks.FlagErrors(c.IgnoreFlag+","+c.EnableFlag+value, true); got != nil {
			t.Errorf("%s: %q", c.Name, got)
		}
	}
}
