package gitsource

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// manyPacks makes a repository whose history came in as n packs, some with
// objects that others have too, and some loose objects.
func manyPacks(tb testing.TB, n int) (dir string, heads []Hash, want files) {
	tb.Helper()
	u := newUpstream(tb)
	want = files{"link": "->po/0.po", "sub": "@", "po/big.po": strings.Repeat("msgid \"x\"\n", 5000)}
	var h Hash
	dir = bare(tb)
	for i := range n {
		for k := range 7 {
			want[fmt.Sprintf("po/%d.po", k)] = fmt.Sprintf("%d of %d\n%s", k, i, strings.Repeat("same text\n", 100))
		}
		want["po/big.po"] += fmt.Sprint(i, "\n")
		var parents []Hash
		if i > 0 {
			parents = []Hash{h}
		}
		h = u.commit("A", want, parents...)
		heads = append(heads, h)
		u.set("main", h)
		not := ""
		if i > 2 { // packs overlap by two commits
			not = "^" + heads[i-3].String() + "\n"
		}
		if i == n-1 {
			continue // stays loose
		}
		base := filepath.Join(dir, "objects", "pack", "pack")
		args := []string{"-q", "--revs"}
		if i%2 == 0 {
			args = append(args, "--delta-base-offset")
		}
		pipeGit(tb, u.dir, strings.NewReader(h.String()+"\n"+not), append(append([]string{"pack-objects"}, args...), base)...)
	}
	c := objectCopy{from: openObjects(u.dir), to: openObjects(dir), target: filepath.Join(dir, "objects"), limit: 100, done: map[Hash]struct{}{}}
	must(tb, c.history(context.Background(), h))
	must(tb, c.from.close())
	must(tb, c.to.close())
	must(tb, writeAtomic(filepath.Join(dir, "packed-refs"), "# pack-refs with: peeled\n"+heads[1].String()+" refs/repoglot/previous\n"))
	must(tb, writeAtomic(filepath.Join(dir, "refs/heads/main"), h.String()+"\n"))
	must(tb, writeAtomic(filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n"))
	return dir, heads, want
}

func TestRepackBuiltin(t *testing.T) {
	needGit(t)
	dir, heads, want := manyPacks(t, 8)
	must(t, writeLooseBlob(dir, "garbage"))
	old := openObjects(dir)
	must(t, old.list())
	if len(old.packs) != 7 || len(old.loose) < 3 {
		t.Fatalf("%d packs, %d loose objects", len(old.packs), len(old.loose))
	}
	to := bare(t)
	must(t, repackBuiltin(context.Background(), dir, to))
	runGit(t, to, "fsck", "--full", "--strict")
	o := openObjects(to)
	must(t, o.list())
	if len(o.packs) != 1 || len(o.loose) != 0 || o.packs[0].index.n > len(heads)*11+10 {
		t.Errorf("%d packs, %d loose objects, the pack has %d", len(o.packs), len(o.loose), o.packs[0].index.n)
	}
	runGit(t, to, "verify-pack", o.packs[0].name)
	if got, want := runGit(t, to, "rev-list", "--objects", "--all"), runGit(t, dir, "rev-list", "--objects", "--all"); got != want {
		t.Error("other objects are named by its refs")
	}
	garbage := Hash{}
	for h := range old.loose {
		if !o.has(h) {
			garbage = h
		}
	}
	if garbage.IsZero() {
		t.Error("garbage was copied")
	}
	_, _ = o.close(), old.close()
	if got, err := readRef(to, "refs/repoglot/previous"); err != nil || got != heads[1] {
		t.Errorf("previous head %s, %v", got, err)
	}
	r, err := openReader(to, Head{}, func() {})
	must(t, err)
	defer r.Close()
	delete(want, "sub")
	if d := cmp.Diff(want, contents(t, r, heads[7], everything)); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

func TestRepackFindsDamage(t *testing.T) {
	needGit(t)
	for name, harm := range map[string]func(dir string, loose Hash){
		"loose object gone": func(dir string, h Hash) { must(t, os.Remove(filepath.Join(dir, "objects", looseName(h)))) },
		"loose object cut": func(dir string, h Hash) {
			must(t, os.Truncate(filepath.Join(dir, "objects", looseName(h)), 10))
		},
		"pack cut": func(dir string, _ Hash) {
			packs, _ := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
			must(t, os.Chmod(packs[0], 0o600))
			must(t, os.Truncate(packs[0], 100))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _, want := manyPacks(t, 5)
			o := openObjects(dir)
			must(t, o.list())
			var blob Hash
			for h := range o.loose {
				if data, err := o.read(h, 3, 1<<20); err == nil && string(data) == want["po/0.po"] {
					blob = h
				}
			}
			must(t, o.close())
			if blob.IsZero() {
				t.Fatal("no loose file")
			}
			harm(dir, blob)
			if err := repackBuiltin(context.Background(), dir, bare(t)); !Damaged(err) {
				t.Errorf("%v; want one that Damaged takes", err)
			}
		})
	}
}

// TestMaintenanceWithoutGit: more than 50 packs become one, while a Reader reads.
func TestMaintenanceWithoutGit(t *testing.T) {
	needGit(t)
	u := newUpstream(t)
	h := u.commit("A", files{"x": "0"})
	u.set("main", h)
	m := u.mirror(Options{})
	_, err := m.Fetch(context.Background())
	must(t, err)
	path, _ := m.Path()
	runGit(t, path, "repack", "-q", "-a", "-d")
	for i := range maxPacks {
		h = u.commit("A", files{"x": fmt.Sprint(i)}, h)
		u.set("main", h)
		_, err := m.Fetch(context.Background())
		must(t, err)
		now, _ := m.Path()
		if now != path {
			t.Fatalf("repacked after %d fetches", i)
		}
		runGit(t, path, "repack", "-q", "-d")
	}
	if !crowded(path) {
		t.Fatal("not crowded")
	}
	t.Setenv("PATH", "")
	r := open(t, m)
	first := steps(t, r, Hash{}, h, everything)
	u.set("main", u.commit("B", files{"x": "last"}, h))
	checkFetch(t, m, "main", files{"x": "last"})
	now, _ := m.Path()
	if now == path || crowded(now) {
		t.Errorf("not repacked: %s", now)
	}
	if got := steps(t, r, Hash{}, h, everything); len(got) != len(first) {
		t.Errorf("the open reader sees %d steps, before %d", len(got), len(first))
	}
	must(t, r.Close())
	checkOneRepository(t, m)
	checkFetch(t, m, "main", files{"x": "last"})
}

// BenchmarkRepack repacks switchboard's history.
func BenchmarkRepack(b *testing.B) {
	dir := bundle(b, "switchboard")
	b.ReportAllocs()
	for b.Loop() {
		must(b, repackBuiltin(context.Background(), dir, bare(b)))
	}
}
