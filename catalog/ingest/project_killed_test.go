package ingest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

func killedProject() Project {
	return Project{Components: 5, Languages: 3, Strings: 14, Shared: 60, Templates: 20, Edits: 20, Seed: 7}
}

// TestKilledProject kills processes that import or replay several components which
// share strings. After each kill the stored sums are right, and in the end the API
// serves, byte for byte, what it serves after an undisturbed pull.
func TestKilledProject(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it kills processes")
	}
	repo := killedProject().Generate(t)
	for _, way := range []struct {
		pulls  string
		kills  int
		states int // at least as many are stored by killed processes
	}{{"import", testsize.Of(2, 8, 100), 1}, {"replay", testsize.Of(2, 12, 150), 3}} {
		t.Run(way.pulls, func(t *testing.T) {
			t.Setenv(childPulls, way.pulls)
			whole := catalogtest.NewPuller(t, repo.URL(), childSettings(way.pulls)) // makes the mirror
			whole.Sync()
			whole.DB.Close()
			all := killCounts{commits: map[string]int{}, standing: map[string]int{}}
			undisturbed := newCutter(t, whole)
			killed, asked := all.run(t, undisturbed, 0, 0)
			if killed || asked < 100 {
				t.Fatalf("%v, %d places: the test kills nothing", killed, asked)
			}
			want := undisturbed.served(t)
			random := rand.New(rand.NewPCG(1, 5))
			for chain := 0; all.kills < way.kills && !t.Failed(); chain++ {
				w := newCutter(t, whole)
				for going := true; going; {
					if going, _ = all.run(t, w, 1+random.Int64N(asked), 0); going {
						w.Open()
						w.Verify()
						w.DB.Close()
					}
				}
				equal(t, want, w.served(t), "chain %d (-undisturbed +killed)", chain)
			}
			t.Logf("%d kills, %d stored states", all.kills, len(all.standing))
			if len(all.standing) < way.states {
				t.Errorf("%d kills left only the states %v", all.kills, all.standing)
			}
		})
	}
}
