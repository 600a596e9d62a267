package merge

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// otherwise are merges of which people made something else, and what.
var otherwise = map[string]string{
	"gtranslator-po d26e8c034 po/pl.po":    "kept their own file whole, with older references and dates",
	"switchboard ff331c4a9 po/eo.po":       "kept the older POT-Creation-Date",
	"switchboard ff331c4a9 po/extra/eo.po": "kept the older POT-Creation-Date",
}

// TestMergeCommits makes all merges of real histories again in which both sides changed a PO
// file differently, by lines and by meaning, and compares both with what was committed.
func TestMergeCommits(t *testing.T) {
	if t.Parallel(); testing.Short() {
		t.Skip("skipped: each tree of each merge is listed")
	}
	temp := t.TempDir()
	var count, byLines int
	for _, bundle := range bundleNames(t) {
		dir := gittest.Bundle(t, bundle)
		objects := openObjects(t, dir)
		for line := range strings.Lines(gittest.RunGit(t, dir, "rev-list", "--merges", "--parents", "HEAD")) {
			ids := strings.Fields(line)
			cmd := exec.CommandContext(t.Context(), gittest.NeedGit(t), "merge-base", ids[1], ids[2])
			cmd.Dir = dir
			base, err := cmd.Output()
			if err != nil {
				continue // unrelated histories
			}
			blobs := [4]map[string]string{}
			for v, commit := range []string{strings.TrimSpace(string(base)), ids[1], ids[2], ids[0]} {
				blobs[v] = map[string]string{}
				for entry := range strings.Lines(gittest.RunGit(t, dir, "ls-tree", "-r", commit)) {
					meta, path, _ := strings.Cut(strings.TrimSpace(entry), "\t")
					if ext := filepath.Ext(path); ext == ".po" || ext == ".pot" {
						blobs[v][path] = strings.Fields(meta)[2]
					}
				}
			}
			for path, ours := range blobs[Ours] {
				theirs, was, is := blobs[Theirs][path], blobs[Base][path], blobs[3][path]
				if theirs == "" || is == "" || ours == theirs || ours == was || theirs == was {
					continue
				}
				count++
				var data [3][]byte
				for v := range data {
					if id := blobs[v][path]; id != "" {
						data[v] = blob(t, objects, id)
					}
				}
				name := fmt.Sprintf("%s %s %s", bundle, ids[0][:9], path)
				r := merged(t, data[Base], data[Ours], data[Theirs], Options{})
				if n, lines := mergeByGit(t, temp, data[Base], data[Ours], data[Theirs]); n > 0 {
					byLines++
				} else if diff := differs(t, parse(t, string(lines)), r.Data); diff != "" {
					t.Errorf("%s: git has it otherwise: %s", name, diff)
				}
				if r.Conflicts > 0 {
					t.Errorf("%s: %d conflicts", name, r.Conflicts)
					continue
				}
				diff := differs(t, parse(t, string(blob(t, objects, is))), r.Data)
				if same := diff == ""; same == (otherwise[name] != "") {
					t.Errorf("%s: it was committed otherwise (%s): %s", name, otherwise[name], diff)
				}
			}
		}
	}
	t.Logf("%d merges, %d with conflicts by lines, none by meaning", count, byLines)
}

// TestNeighbours makes, of two commits to one file of which one followed the other, a merge:
// the second as if it had been made beside the first. Strings that only one of both changed
// are as they were after both.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	all := longHistories(t)
	temp := t.TempDir()
	var count, conflicts, byLines int
	for n := range testsize.Of(10, 100, 2000) {
		rng := rand.New(rand.NewPCG(uint64(n), 18))
		h := all[rng.IntN(len(all))]
		i := rng.IntN(len(h.versions) - 2)
		var data [3][]byte
		var said [3]map[string][4]string
		readable := true
		for v := range data {
			data[v] = h.read(t, i+v)
			if opened := openVersion(data[v]); opened == nil {
				readable = false
			} else {
				said[v] = saidBy(opened.file)
			}
		}
		beside, err := Files(data[1], data[0], data[2], Options{Favor: FavorTheirs})
		if err != nil || !readable {
			continue
		}
		count++
		r := merged(t, data[0], data[1], beside.Data, Options{})
		if r.Conflicts > 0 {
			conflicts++
		}
		if n, _ := mergeByGit(t, temp, data[0], data[1], beside.Data); n > 0 {
			byLines++
		}
		f, err := poparse.Parse("", resolved(r.Data, Theirs))
		gittest.Must(t, err)
		got := saidBy(f)
		for _, keys := range []map[string][4]string{said[0], said[2], got} {
			for k := range keys {
				if k == keyOf(&poparse.Entry{}) || said[0][k] != said[1][k] && said[1][k] != said[2][k] {
					continue
				}
				// What the second commit reworded is kept beside, or fuzzy, as both would have it.
				kept := strings.Contains(got[k][0], "]true") || strings.HasPrefix(got[k][3], "obsolete true")
				if got[k] != said[2][k] && !kept {
					t.Errorf("%d: %s %d: %s is\n\t%q, want\n\t%q", n, h.name, i, k, got[k], said[2][k])
				}
			}
		}
	}
	t.Logf("%d merges, %d with conflicts by lines, %d by meaning", count, byLines, conflicts)
}
