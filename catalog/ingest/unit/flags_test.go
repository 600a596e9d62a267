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
