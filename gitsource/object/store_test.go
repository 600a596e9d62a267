package object

import (
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

func openStore(tb testing.TB, gitDir string) *Store {
	tb.Helper()
	s, err := Open(gitDir)
	gittest.Must(tb, err)
	tb.Cleanup(func() { gittest.Must(tb, s.Close()) })
	return s
}

// contentsOf reads all files of a commit.
func contentsOf(tb testing.TB, s *Store, commit Hash) files {
	tb.Helper()
	n, err := s.Node(commit)
	gittest.Must(tb, err)
	fs := files{}
	var walk func(tree Hash, prefix string)
	walk = func(tree Hash, prefix string) {
		list, err := s.Tree(tree)
		gittest.Must(tb, err)
		for _, e := range list {
			switch e.Kind {
			case KindTree:
				walk(e.Hash, prefix+e.Name+"/")
			case KindFile, KindLink:
				data, err := s.Blob(e.Hash, 1<<30)
				gittest.Must(tb, err)
				fs[prefix+e.Name] = string(data)
				if e.Kind == KindLink {
					fs[prefix+e.Name] = "->" + string(data)
				}
			}
		}
	}
	walk(n.Tree, "")
	return fs
}

func TestIsLFSPointer(t *testing.T) {
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	if !IsLFSPointer([]byte(pointer)) {
		t.Error("a pointer is not recognised")
	}
	for _, s := range []string{"", "msgid \"\"\n", pointer[1:], pointer + strings.Repeat("x", 2000), "version https://git-lfs.github.com/spec/v1\n"} {
		if IsLFSPointer([]byte(s)) {
			t.Errorf("%.60q is taken for a pointer", s)
		}
	}
}

func TestParseHash(t *testing.T) {
	id := "0123456789abcdef0123456789ABCDEF01234567"
	h, err := ParseHash(id)
	if err != nil || h.String() != strings.ToLower(id) || h.IsZero() || h.Compare(Hash{}) != 1 {
		t.Errorf("%v, %v", h, err)
	}
	for _, bad := range []string{"", "01", id + "0", strings.Repeat("g", 40), strings.Repeat("0", 64)} {
		if _, err := ParseHash(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestMain(m *testing.M) { gittest.Main(m) }

type (
	files    = gittest.Files
	upstream = gittest.Upstream[Hash]
)

func newUpstream(tb testing.TB) *upstream {
	tb.Helper()
	return gittest.NewUpstream[Hash](tb)
}
