package catalog

import "unicode/utf8"

// Clip shortens a text of more than most characters to these and "…".
func Clip(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// Fit shortens a text of more than most characters to as many, the last one of which is "…".
func Fit(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return Clip(s, most-1)
}
