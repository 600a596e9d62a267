package catalog_test

import (
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

func TestUsername(t *testing.T) {
	for name, want := range map[string]string{
		"Jana Nováková":    "jana-novakova",
		"  ":               "author",
		"山田太郎":             "山田太郎",
		"A.  B. (bot) <x>": "a-b-bot-x",
		"Đorđe":            "đorđe",
	} {
		if got := catalog.Username(name); got != want {
			t.Errorf("Username(%q) = %q, want %q", name, got, want)
		}
	}
}
