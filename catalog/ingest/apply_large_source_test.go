package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestLargeSource: pulls of drawn commits, some of them merges of branches, some with a template
// that cannot be read, store the same whether they read the template in parts or as a whole.
func TestLargeSource(t *testing.T) {
	for seed := range uint64(testsize.Of(1, 6, 40)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			a := &againstWorld{rand.New(rand.NewPCG(seed, 15)), map[string]string{}}
			repo := testrepos.Empty(t)
			a.commit(t, repo)
			parts, whole := catalogtest.NewPuller(t, repo.Path(), againstComponents(catalog.History{})), catalogtest.NewPuller(t, repo.Path(), againstComponents(catalog.History{}))
			parts.Syncer.SetPartSize(8)
			last := int64(0)
			for n := range 10 {
				want, got := pulled(whole, last), pulled(parts, last)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("pull %d (-whole +parts):\n%s", n, diff)
				}
				_, last = parts.ChangesAfter(last)
				switch a.IntN(4) {
				case 0:
					branch := fmt.Sprint("side", n)
					for parents := []string{"main"}; parents != nil || a.IntN(2) > 0; parents = nil {
						repo.Commit(t, testrepos.Change{Branch: branch, Parents: parents, Files: map[string]string{"po/app.pot": drawnFile(a.Rand, true), "po/cs.po": drawnFile(a.Rand, false)}})
					}
					repo.Commit(t, testrepos.Change{Files: map[string]string{"README": branch}})
					repo.Commit(t, testrepos.Change{Merge: branch, Message: "Merge"})
				case 1:
					repo.Commit(t, testrepos.Change{Files: map[string]string{"po/app.pot": "msgid \"x"}})
				case 2: // only references move
					repo.Commit(t, testrepos.Change{Files: map[string]string{"po/app.pot": strings.ReplaceAll(a.files["po/app.pot"], "a.c:0", fmt.Sprint("a.c:", n+2))}})
				default:
					a.commit(t, repo)
				}
			}
		})
	}
}

// pulled pulls, and returns what is stored then and the changes after an id.
func pulled(w *catalogtest.Puller, last int64) string {
	report := w.Sync()
	changes, _ := w.ChangesAfter(last)
	return fmt.Sprintln(report) + dump(w) + changes
}
