package poparse

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/leonelquinteros/gotext"
)

// TestSecondOpinion compares with gotext on files that it can read: every
// string that is neither fuzzy nor obsolete must agree. gotext knows no other
// charset than UTF-8, no adjacent strings on one line and no CR.
func TestSecondOpinion(t *testing.T) {
	texts := map[string][]byte{}
	for _, kind := range benchKinds {
		texts["generated "+kind] = generate(kind, 500)
	}
	for name, data := range texts {
		if n := compareWithGotext(t, name, data); n < 400 {
			t.Errorf("%s: only %d strings compared", name, n)
		}
	}
	bundles, err := filepath.Glob(filepath.Join(sharedDir(t, "data", "repos"), "*.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, bundle := range bundles {
		switch filepath.Base(bundle) {
		case "polib.bundle", "vim-po.bundle": // fixtures made to be unusual; other charsets
			continue
		}
		path, err := filepath.Abs(bundle)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range headFiles(t, cloneBundle(t, path), ".po") {
			compared += compareWithGotext(t, b.path, b.data)
		}
	}
	t.Logf("%d strings compared", compared)
	if compared < 20_000 {
		t.Errorf("only %d strings compared", compared)
	}
}

func compareWithGotext(t *testing.T, name string, data []byte) int {
	t.Helper()
	f, err := Parse(name, data)
	if err != nil {
		t.Error(err)
		return 0
	}
	if strings.Contains(string(data), "\r") {
		return 0
	}
	po := gotext.NewPo()
	po.Parse(data)
	// Both are copies of gotext's maps: not to be asked for per entry.
	plain, byContext := po.GetDomain().GetTranslations(), po.GetDomain().GetCtxTranslations()
	n := 0
	for i := range f.Entries {
		e := &f.Entries[i]
		if e.Obsolete || e.Duplicate || e.Fuzzy || e.Str[0] == "" || e.HasContext && e.Context == "" {
			continue
		}
		n++
		table := plain
		if e.HasContext {
			table = byContext[e.Context]
		}
		got := ""
		if tr := table[e.ID]; tr != nil {
			got = tr.Trs[0]
		}
		if got != e.Str[0] {
			t.Errorf("%s:%d: %q, gotext says %q", name, e.KeywordLine, e.Str[0], got)
		}
	}
	return n
}
