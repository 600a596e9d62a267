package derive

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

func TestMain(m *testing.M) { gittest.Main(m) }

var (
	jana   = object.Signature{Name: "Jana", Email: "jana@example.org", When: time.Date(2026, 5, 1, 14, 0, 0, 0, time.FixedZone("", 7200))}
	server = object.Signature{Name: "repoglot", Email: "noreply@example.org", When: time.Date(2026, 5, 1, 12, 10, 0, 0, time.UTC)}
)

// Write makes one commit, and stores it.
func Write(ctx context.Context, gitDir string, commit Commit) (object.Hash, error) {
	c, err := Open(gitDir)
	if err != nil {
		return object.Hash{}, err
	}
	defer c.Close()
	id, err := c.Commit(ctx, commit)
	if err == nil {
		err = c.Store()
	}
	return id, err
}

// upstream makes a repository with files of all modes and returns its directory and its
// commit.
func upstream(t *testing.T) (string, object.Hash) {
	t.Helper()
	gittest.NeedGit(t)
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	gittest.RunGit(t, "", "init", "-q", "-b", "main", work)
	for name, text := range map[string]string{
		"po/cs.po": "cs\n", "po/de.po": "de\n", "po/sub/fr.po": "fr\n", "po.txt": "x\n", "po-a/b": "b\n", "run.sh": "#!\n", "only/one": "1\n", "příliš/ž": "ž\n",
	} {
		gittest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(work, name)), 0o755))
		gittest.Must(t, os.WriteFile(filepath.Join(work, name), []byte(text), 0o644))
	}
	gittest.Must(t, os.Symlink("po/cs.po", filepath.Join(work, "link.po")))
	gittest.RunGit(t, work, "add", "-A")
	gittest.RunGit(t, work, "update-index", "--chmod=+x", "run.sh")
	gittest.RunGit(t, work, "update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,module")
	gittest.RunGit(t, work, "commit", "-q", "-m", "first")
	gitDir := filepath.Join(work, ".git")
	h, err := object.ParseHash(strings.TrimSpace(gittest.RunGit(t, work, "rev-parse", "HEAD")))
	gittest.Must(t, err)
	return gitDir, h
}

func commit(parent object.Hash, files ...File) Commit {
	return Commit{Parent: parent, Files: files, Author: jana, Committer: server, Message: "Translate\n\nCo-authored-by: Petr <p@example.org>\n"}
}

// TestWrite changes, adds and removes files; git sees these changes and no others.
func TestWrite(t *testing.T) {
	gitDir, parent := upstream(t)
	for _, tt := range []struct {
		name  string
		files []File
		want  string // of git diff --raw without ids
	}{
		{"changed", []File{{Path: "po/cs.po", Data: []byte("CS\n")}}, "100644 100644 M po/cs.po"},
		{"two folders", []File{{Path: "po/sub/fr.po", Data: []byte("FR\n")}, {Path: "po/de.po", Data: []byte("DE\n")}}, "100644 100644 M po/de.po\n100644 100644 M po/sub/fr.po"},
		{"added beside names that sort differently", []File{{Path: "po.a", Data: nil}, {Path: "po-b", Data: nil}, {Path: "po0", Data: nil}}, "000000 100644 A po-b\n000000 100644 A po.a\n000000 100644 A po0"},
		{"added in new folders", []File{{Path: "l10n/cs/app.po", Data: []byte("x")}, {Path: "po/nb/app.po", Data: []byte("y")}}, "000000 100644 A l10n/cs/app.po\n000000 100644 A po/nb/app.po"},
		{"removed", []File{{Path: "po/de.po", Remove: true}}, "100644 000000 D po/de.po"},
		{"removed with its folder", []File{{Path: "only/one", Remove: true}}, "100644 000000 D only/one"},
		{"removed what is not there, and changed", []File{{Path: "no/such", Remove: true}, {Path: "po/xx.po", Remove: true}, {Path: "po.txt", Data: []byte("y")}}, "100644 100644 M po.txt"},
		{"executable stays so", []File{{Path: "run.sh", Data: []byte("x")}}, "100755 100755 M run.sh"},
		{"beyond ASCII", []File{{Path: "příliš/ž", Data: []byte("x")}}, "100644 100644 M příliš/ž"},
		{"moved", []File{{Path: "po/de.po", Remove: true}, {Path: "po/de_AT.po", Data: []byte("de\n")}}, "100644 000000 D po/de.po\n000000 100644 A po/de_AT.po"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, err := Write(t.Context(), gitDir, commit(parent, tt.files...))
			gittest.Must(t, err)
			var got []string
			for line := range strings.Lines(gittest.RunGit(t, gitDir, "-c", "core.quotePath=false", "diff", "--raw", "--no-renames", parent.String(), id.String())) {
				fields := strings.Fields(line)
				got = append(got, strings.TrimPrefix(fields[0], ":")+" "+fields[1]+" "+fields[4]+" "+fields[5])
			}
			sort.Slice(got, func(i, j int) bool { return got[i][16:] < got[j][16:] })
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, f := range tt.files {
				if !f.Remove {
					if got := gittest.RunGit(t, gitDir, "cat-file", "blob", id.String()+":"+f.Path); got != strings.TrimSpace(string(f.Data)) {
						t.Errorf("%s has %q", f.Path, got)
					}
				}
			}
			again, err := Write(t.Context(), gitDir, commit(parent, tt.files...))
			if err != nil || again != id {
				t.Errorf("the same commit again is %s, %v; first %s", again, err, id)
			}
			gittest.RunGit(t, gitDir, "fsck", "--strict", "--no-dangling")
		})
	}
	if refs := gittest.RunGit(t, gitDir, "for-each-ref", "--format=%(refname) %(objectname)"); refs != "refs/heads/main "+parent.String() {
		t.Errorf("refs have moved: %s", refs)
	}
}

// TestWriteAll removes every file of a repository.
func TestWriteAll(t *testing.T) {
	up := gittest.NewUpstream[object.Hash](t)
	parent := up.Push("T", gittest.Files{"a/b": "x"})
	id, err := Write(t.Context(), up.Dir, commit(parent, File{Path: "a/b", Remove: true}))
	gittest.Must(t, err)
	store, err := object.Open(up.Dir)
	gittest.Must(t, err)
	defer store.Close()
	c, err := store.Commit(id)
	gittest.Must(t, err)
	if c.Tree.String() != "4b825dc642cb6eb9a060e54bf8d69288fbee4904" {
		t.Errorf("the tree is %s, want the empty one", c.Tree)
	}
	want := object.Commit{Hash: id, Tree: c.Tree, Parents: []object.Hash{parent}, Author: jana, Committer: server, Message: "Translate\n\nCo-authored-by: Petr <p@example.org>"}
	if diff := cmp.Diff(want, c, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) && a.Format("-0700") == b.Format("-0700") })); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestWriteRefuses lists commits that are not made.
func TestWriteRefuses(t *testing.T) {
	gitDir, parent := upstream(t)
	for path, want := range map[string]error{
		"":               ErrPath,
		"/po/cs.po":      ErrPath,
		"po//cs.po":      ErrPath,
		"po/../cs.po":    ErrPath,
		"./cs.po":        ErrPath,
		".git/config":    ErrPath,
		"a/.GIT/config":  ErrPath,
		"a/.git./config": ErrPath,
		"GIT~1/config":   ErrPath,
		".g\u200cit/x":   ErrPath,
		"a\\b":           ErrPath,
		"a:b":            ErrPath,
		"a\nb":           ErrPath,
		"a\xffb":         ErrPath,
		"po":             ErrPath, // a directory
		"po.txt/x":       ErrPath, // through a file
		"link.po":        ErrPath, // a symlink
		"link.po/x":      ErrPath,
		"module":         ErrPath, // a submodule
		"module/x":       ErrPath,
		"po/cs.po":       ErrNothing, // as it is
	} {
		_, err := Write(t.Context(), gitDir, commit(parent, File{Path: path, Data: []byte("cs\n")}))
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", path, err, want)
		}
	}
	for _, files := range [][]File{{{Path: "a"}, {Path: "a"}}, {{Path: "a"}, {Path: "a/b"}}, {{Path: "a/b"}, {Path: "a"}}} {
		if _, err := Write(t.Context(), gitDir, commit(parent, files...)); !errors.Is(err, ErrPath) {
			t.Errorf("%v: %v", files, err)
		}
	}
	if _, err := Write(t.Context(), gitDir, commit(parent)); !errors.Is(err, ErrNothing) {
		t.Errorf("no files: %v", err)
	}
	if _, err := Write(t.Context(), gitDir, commit(parent, File{Path: "no/such", Remove: true})); !errors.Is(err, ErrNothing) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Write(t.Context(), gitDir, commit(object.Hash{1}, File{Path: "a"})); !errors.Is(err, object.ErrUnknownCommit) {
		t.Errorf("another parent: %v", err)
	}
	silent := commit(parent, File{Path: "a"})
	silent.Message = "\n\x00\n"
	if _, err := Write(t.Context(), gitDir, silent); err == nil {
		t.Error("a commit without a message was made")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Write(ctx, gitDir, commit(parent, File{Path: "a"})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestForgedPeople has names that would add lines to a commit.
func TestForgedPeople(t *testing.T) {
	up := gittest.NewUpstream[object.Hash](t)
	parent := up.Push("T", gittest.Files{"a": "x"})
	for _, tt := range []struct{ name, email, want string }{
		{"Jana", "j@example.org", "Jana <j@example.org>"},
		{"Jana\ncommitter Evil <e@x> 1 +0000\n\nx", "j>@e\n.org", "Jana committer Evil e@x 1 +0000  x <j@e .org>"},
		{"", "j@example.org", "j@example.org <j@example.org>"},
		{"<>", "", "unknown <>"},
		{" 'Jana'. ", "<j@example.org>", "Jana <j@example.org>"},
	} {
		c := commit(parent, File{Path: "a", Data: []byte("y")})
		c.Author.Name, c.Author.Email = tt.name, tt.email
		data, err := c.encode(object.Hash{})
		gittest.Must(t, err)
		if line := strings.Split(string(data), "\n")[2]; line != "author "+tt.want+" 1777636800 +0200" {
			t.Errorf("%q: got %q", tt.name, line)
		}
	}
}
