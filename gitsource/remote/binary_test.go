package remote

import (
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

func TestMain(m *testing.M) { gittest.Main(m) }

type (
	files    = gittest.Files
	upstream = gittest.Upstream[object.Hash]
)

func newUpstream(tb testing.TB) *upstream {
	tb.Helper()
	return gittest.NewUpstream[object.Hash](tb)
}

func pattern(tb testing.TB, s string) BranchPattern {
	tb.Helper()
	p, err := ParseBranchPattern(s)
	gittest.Must(tb, err)
	return p
}

func TestParseLsRemote(t *testing.T) {
	id := strings.Repeat("ab", 20)
	h, _ := object.ParseHash(id)
	for _, c := range []struct {
		out, ref string
		want     object.Head
		fails    bool
	}{
		{"ref: refs/heads/main\tHEAD\n" + id + "\tHEAD\n", "HEAD", object.Head{Hash: h, Branch: "main"}, false},
		{id + "\tHEAD\n" + id + "\trefs/remotes/x/HEAD\n", "HEAD", object.Head{Hash: h, Branch: "HEAD"}, false},
		{id + "\trefs/heads/x/main\n", "refs/heads/main", object.Head{}, false},
		{id + "\trefs/heads/main\n", "refs/heads/main", object.Head{Hash: h, Branch: "main"}, false},
		{"", "HEAD", object.Head{}, false},
		{"ref: refs/heads/../../x\tHEAD\n", "HEAD", object.Head{}, true},
		{"xyz\tHEAD\n", "HEAD", object.Head{}, true},
	} {
		got, err := parseLsRemote(c.out, c.ref)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%q: %+v, %v", c.out, got, err)
		}
	}
}

func FuzzParseLsRemote(f *testing.F) {
	f.Add("ref: refs/heads/x\tHEAD")
	f.Fuzz(func(_ *testing.T, out string) { _, _ = parseLsRemote(out, "HEAD") })
}
