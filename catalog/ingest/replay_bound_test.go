package ingest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestReplayBounds replays the end of a history: the state at the bound makes
// no entries, and the later commits make the same entries as in a whole replay.
func TestReplayBounds(t *testing.T) {
	p := playLong(t, 21, 30)
	chain := p.firstParents()
	if len(chain) < 8 {
		t.Fatalf("%d commits", len(chain))
	}
	full := synced(t, p.repo.URL(), withHistory(historySettings))
	for _, c := range []struct {
		name    string
		history catalog.History
		first   int // index in chain of the commit replayed first; len: none
	}{
		{"commits", catalog.History{Full: true, Commits: 5}, len(chain) - 5},
		{"all", catalog.History{Full: true, Commits: len(chain)}, 0},
		{"since", catalog.History{Full: true, Since: p.when(t, chain[len(chain)-3])}, len(chain) - 3},
		{"old", catalog.History{Full: true, Since: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)}, 0},
		{"future", catalog.History{Full: true, Since: time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)}, len(chain)},
	} {
		t.Run(c.name, func(t *testing.T) {
			settings := map[string]catalog.ComponentSettings{}
			for slug, s := range historySettings {
				s.History = c.history
				settings[slug] = s
			}
			w := catalogtest.NewPuller(t, p.repo.URL(), settings)
			w.Syncer.SetBatch(3)
			w.Sync()
			equal(t, servedUnits(full), servedUnits(w), "units (-full +bounded)")
			opened := p.head
			if c.first < len(chain) {
				opened = chain[c.first]
			}
			for slug, list := range changesByComponent(w) {
				first, rest, _ := strings.Cut(list, "\n")
				if !strings.HasPrefix(first, "51 ") || strings.Contains(rest, "\n51 ") {
					t.Errorf("%s begins with %q", slug, first)
				}
				if !strings.HasSuffix(changesByComponent(full)[slug], rest) {
					t.Errorf("%s: the entries are not the end of the whole history's:\n%s", slug, rest)
				}
				for i, commit := range chain {
					if has := strings.Contains(rest, commit.hash); has && i < c.first {
						t.Errorf("%s: an entry of commit %d, before the bound", slug, i)
					}
				}
			}
			w.EachChange(0, func(ch *catalog.Change) {
				if ch.Action == catalog.ActionCreateComponent && !ch.Timestamp.Equal(p.when(t, opened)) {
					t.Errorf("%s created at %s, want the time of the first commit replayed, %s", ch.Component, ch.Timestamp, p.when(t, opened))
				}
			})
		})
	}
}

// when returns the committer time of a commit.
func (p *player) when(t testing.TB, c *modelCommit) time.Time {
	at, err := time.Parse(time.RFC3339, gittest.RunGit(t, p.repo.Dir, "show", "-s", "--format=%cI", c.hash))
	must(t, err)
	return at.UTC()
}
