package unit

import (
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		"no-wrap":                         "no-wrap",
		"b|a|b":                           "a, b",
		"max-length:100":                  "max-length:100",
		"range: 0..5":                     "range: 0..5",
		`placeholders:"x"`:                `placeholders:x`,
		`placeholders:"x":y`:              `placeholders:x:y`,
		`placeholders:"a b":"c,d"`:        `placeholders:"a b":"c,d"`,
		`placeholders:"a:b"`:              `placeholders:"a:b"`,
		`placeholders:"say \"a\""`:        `placeholders:"say \"a\""`,
		`regex:\d+`:                       `regex:"\\d+"`,
		`regex:"\\d"`:                     `regex:"\\d"`,
		`regex:r"^\d: \"a\"$"`:            `regex:r"^\d: \"a\"$"`,
		`placeholders:read:r"\{":"a b"`:   `placeholders:read:r"\{":"a b"`,
		`placeholders:r"a"b`:              `placeholders:r"a"b`,
		`replacements:"":x`:               `replacements:"":x`,
		`replacements:it's`:               `replacements:"it's"`,
		`open:"a b`:                       `open:"a b`,
		`odd:"a"b`:                        `odd:"a"b`,
		`"name"`:                          `"name"`,
		`placeholders:"x"|placeholders:x`: `placeholders:x`,
	} {
		var list []string
		if in != "" {
			list = strings.Split(in, "|")
		}
		if got := flags(list); got != want {
			t.Errorf("flags(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestLocation(t *testing.T) {
	for in, want := range map[string]string{
		"":                 "",
		"main.c:11":        "main.c:11",
		"a.c:10 b.c:20":    "a.c:10, b.c:20",
		"my%20file.c:3":    "my, file.c:3",
		"100%.c:1 50%zz.c": "100%.c:1, 50%zz.c",
		"a%2Fb.c:1":        "a/b.c:1",
		"x%ff.c:1":         "x\ufffd.c:1",
		"x%00.c:1":         "x\ufffd.c:1",
		"../../lib/python/django.py:docstring of django.utils.html:1":    "../../lib/python/django.py",
		"a.py:docstring of m.f:12 b.py:docstring of m.g:<autosummary>:1": "a.py, b.py",
		"a.py:docstring": "a.py:docstring",
	} {
		if got := location(strings.Fields(in)); got != want {
			t.Errorf("location(%q) = %q, want %q", in, got, want)
		}
	}
}
