package ingest_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestPullsOfMixedKinds: components of a repository, some of a discovery, meet pushes that change,
// move, remove and bring back files, templates and folders, by some commits or by a rewritten
// branch, while one of them is configured or removed. Afterwards all is as an import has it.
func TestPullsOfMixedKinds(t *testing.T) {
	for seed := range uint64(testsize.Of(1, 2, 24)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 11))
			files := map[string]string{"lib/a/cs.po": drawnFile(r, false)}
			repo := testrepos.Empty(t)
			first := repo.Commit(t, testrepos.Change{Files: files})
			settings := map[string]catalog.ComponentSettings{
				"app":             {NewBase: "po/app.pot"},
				"lib-{component}": {Name: "{component}", Filemask: "lib/{component}/*.po", NewBase: "lib/{component}/app.pot"},
			}
			w := synced(t, repo.URL(), settings)
			for n := range 6 {
				for range 1 + r.IntN(3) {
					c := testrepos.Change{Files: map[string]string{}}
					for range 1 + r.IntN(3) {
						name := []string{"po/", "lib/a/", "lib/b/", "lib/c d/", "doc/"}[r.IntN(5)] + []string{"cs.po", "de.po", "fr.po", "app.pot"}[r.IntN(4)]
						if _, has := files[name]; has && name != "lib/a/cs.po" && r.IntN(2) == 0 {
							c.Delete = append(c.Delete, name)
							delete(files, name)
							name = strings.Replace(name, "cs", "fr", 1) // it moves, if it is Czech
						}
						files[name] = drawnFile(r, strings.HasSuffix(name, "t"))
					}
					maps.Copy(c.Files, files)
					if r.IntN(5) == 0 {
						c.Parents, c.Force, c.Delete = []string{first}, true, []string{"po", "lib", "doc"}
					}
					repo.Commit(t, c)
				}
				if r.IntN(3) == 0 {
					if _, has := settings["doc"]; has {
						delete(settings, "doc")
					} else {
						settings["doc"] = catalog.ComponentSettings{Filemask: "doc/*.po"}
					}
					w.Configure(repo.URL(), "", settings)
				}
				w.Sync()
				equal(t, servedUnits(synced(t, repo.URL(), settings)), servedUnits(w), "push %d", n)
			}
		})
	}
}
