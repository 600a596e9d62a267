package store

import (
	"testing"
)

func TestBindStyle(t *testing.T) {
	for query, want := range map[string]string{
		"a = $1 AND b IN ($2,$3)":  "a = ? AND b IN (?,?)",
		"a = $2 AND b = $1":        "a = $2 AND b = $1",
		"a = $1 OR b = $1":         "a = $1 OR b = $1",
		"SELECT 1":                 "SELECT 1",
		list(1, 12):                "(?,?,?,?,?,?,?,?,?,?,?,?)",
		"a = $1 AND b = $3 - $2 $": "a = $1 AND b = $3 - $2 $",
	} {
		if got := bindStyle(query); got != want {
			t.Errorf("%q became %q, want %q", query, got, want)
		}
	}
}
