package gitsource

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// sharedRepos are the masks of ../shared/data/repos/README.md, how many files
// they match at the head, and the first set that Discover finds.
var sharedRepos = []struct {
	name  string
	masks []string
	found string
}{
	{"hello", []string{"po/*.po"}, "po/*.po ← po/hello.pot, 33 languages, 33 files"},
	{"demo", []string{"weblate/locale/*/LC_MESSAGES/django.po", "weblate/locale/*/LC_MESSAGES/djangojs.po", "weblate/langdata/locale/*/LC_MESSAGES/django.po"}, "weblate/langdata/locale/*/LC_MESSAGES/django.po ← weblate/langdata/locale/django.pot, 4 languages, 4 files"},
	{"dnf-plugins-core", []string{"po/*.po"}, "po/*.po ← po/dnf-plugins-core.pot, 32 languages, 32 files"},
	{"switchboard", []string{"po/*.po", "po/extra/*.po"}, "po/*.po ← po/io.elementary.settings.pot, 200 languages, 200 files"},
	{"gtranslator-po", []string{"po/*.po", "help/*/*.po"}, "po/*.po ← , 73 languages, 73 files"},
	{"vim-po", []string{"src/po/*.po"}, "src/po/*.po ← src/po/vim.pot, 32 languages, 32 files"},
	{"polib", []string{"tests/*.po"}, "tests/test_save_*.po ← , 2 languages, 2 files"},
	{"python-docs-pl", []string{"*/{component}.po"}, "*/{component}.po ← , 1 languages, 465 files"},
}

// expected reads the paths of the shared table of msgfmt's counts.
func expected(t *testing.T, name string) map[string]bool {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "data", "repos", "expected", name+".tsv"))
	gittest.Must(t, err)
	defer f.Close()
	paths := map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if path, _, _ := strings.Cut(lines.Text(), "\t"); strings.HasSuffix(path, ".po") {
			paths[path] = true
		}
	}
	return paths
}

// TestRealRepositories clones each shared repository, checks that the masks
// match the files that the table lists, and that walking its whole history
// ends at exactly the head's files.
func TestRealRepositories(t *testing.T) {
	for _, c := range sharedRepos {
		t.Run(c.name, func(t *testing.T) {
			m := openMirror(t, remote.Repository{URL: gittest.Bundle(t, c.name)}, Options{})
			r := reader(t, m)
			var masks []filemask.Mask
			for _, text := range c.masks {
				masks = append(masks, mask(t, text))
			}
			match := filemask.NewMatcher(masks)
			list, err := r.Snapshot(context.Background(), r.Head().Hash, match.Want, match.Prune)
			gittest.Must(t, err)
			want := expected(t, c.name)
			head := map[string]object.Hash{}
			for _, f := range list {
				head[f.Path] = f.Blob
				if !want[f.Path] {
					t.Errorf("%s is matched, but not in the table", f.Path)
				}
				delete(want, f.Path)
			}
			for path := range want {
				t.Errorf("%s is in the table, but not matched", path)
			}
			all, err := r.Snapshot(context.Background(), r.Head().Hash, nil, nil)
			gittest.Must(t, err)
			found := filemask.Discover(all, filemask.DiscoverOptions{}).Sets[0]
			if got := fmt.Sprintf("%s ← %s, %d languages, %d files", found.Mask, found.NewBase, found.Languages, found.Files); got != c.found {
				t.Errorf("discovered %s first, want %s", got, c.found)
			}
			replay(t, r, match, head)
		})
	}
}

func replay(t *testing.T, r *Reader, match filemask.Matcher, head map[string]object.Hash) {
	t.Helper()
	state := map[string]object.Hash{}
	var last object.Hash
	merges, swapped := 0, 0
	for s, err := range r.Steps(context.Background(), object.Hash{}, r.Head().Hash, match) {
		gittest.Must(t, err)
		if len(s.Commit.Parents) > 1 {
			merges++
			if len(s.Origins) > 1 {
				swapped++
			}
		}
		for i, c := range s.Changes {
			if state[c.Path] != c.Old {
				t.Fatalf("%s: %s was %s, step says %s", s.Commit.Hash, c.Path, state[c.Path], c.Old)
			}
			state[c.Path] = c.New
			if c.New.IsZero() {
				delete(state, c.Path)
			}
			k := introducer(s, i, func(b object.Hash) bool { return b == c.New })
			if got := s.Origins[k].Blobs[i]; got != c.New {
				t.Fatalf("%s: %s is credited to a commit that has it as %s", s.Commit.Hash, c.Path, got)
			}
		}
		last = s.Commit.Hash
	}
	if len(state) != len(head) {
		t.Errorf("%d files at the end of history, %d at the head", len(state), len(head))
	}
	for path, blob := range head {
		if state[path] != blob {
			t.Errorf("%s ends as %s, the head has %s", path, state[path], blob)
		}
	}
	t.Logf("%d merges change files, %d bring in commits of their own; last step %s", merges, swapped, last)
}

// TestPullsOfSwitchboard goes through the history as pulls see it: from some
// commit of any kind to the head. Many are not on the first-parent chain (of
// 1,838 commits 1,462 are).
func TestPullsOfSwitchboard(t *testing.T) {
	r := reader(t, openMirror(t, remote.Repository{URL: gittest.Bundle(t, "switchboard")}, Options{}))
	ctx := context.Background()
	match := filemask.NewMatcher([]filemask.Mask{mask(t, "po/*.po"), mask(t, "po/extra/*.po")})
	head := r.Head().Hash
	all, err := r.store.Unseen(ctx, head, nil)
	gittest.Must(t, err)
	n, merges, one := 0, 0, 0
	for from, commit := range all {
		if len(commit.Parents) > 1 {
			merges++
		}
		if n++; from[0] != 0x21 {
			continue
		}
		state := map[string]object.Hash{}
		list, err := r.Snapshot(ctx, from, match.Want, match.Prune)
		gittest.Must(t, err)
		for _, f := range list {
			state[f.Path] = f.Blob
		}
		walk := steps(t, r, from, head, match)
		if len(walk) == 1 && walk[0].Base == from {
			one++
		}
		for _, s := range walk {
			for _, c := range s.Changes {
				if state[c.Path] != c.Old {
					t.Fatalf("from %s: %s is not what the step says", from, c.Path)
				}
				state[c.Path] = c.New
			}
		}
		end, err := r.Snapshot(ctx, head, match.Want, match.Prune)
		gittest.Must(t, err)
		for _, f := range end {
			if state[f.Path] != f.Blob {
				t.Fatalf("from %s: %s does not end as at the head", from, f.Path)
			}
		}
	}
	if n != 1838 || merges != 184 || one == 0 {
		t.Errorf("%d commits, %d merges, %d pulls in one step", n, merges, one)
	}
}
