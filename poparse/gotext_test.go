package poparse

import (
	"strings"
	"testing"

	"github.com/leonelquinteros/gotext"
)

// TestSecondOpinion compares with gotext on generated files; TestBundles does the same
// on real ones.
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
}

// compareWithGotext compares every string that is neither fuzzy nor obsolete with the
// string of gotext, and returns their number. gotext knows only UTF-8, and no CR.
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
	// Each call copies a map of gotext: do not call it for each entry.
	plain, byContext := po.GetDomain().GetTranslations(), po.GetDomain().GetCtxTranslations()
	n := 0
	for i := range f.Entries {
		e := f.Entries[i]
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
