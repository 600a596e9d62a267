package ingest_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// inFolderSettings are historySettings with the app's files in a folder.
func inFolderSettings(folder string) map[string]catalog.ComponentSettings {
	settings := maps.Clone(historySettings)
	app := settings["app"]
	app.Filemask, app.NewBase = folder+"/*.po", folder+"/app.pot"
	settings["app"] = app
	return settings
}

// playMoving makes a history of a number of pushes in which folders move and
// languages are renamed, split and merged.
func playMoving(t *testing.T, seed uint64, pushes int) *player {
	p := newPlayer(t, seed)
	p.moves = true
	for range pushes {
		p.play()
	}
	return p
}

// TestMovingHistories pulls random histories in which folders move, masks
// follow, and languages are renamed, split and merged. A string of a language
// keeps its unit's id, the entries lead to the units, entries 48 and 25 record
// every language that comes and goes, and the result equals an import.
func TestMovingHistories(t *testing.T) {
	for n := range played() {
		seed := *firstHistory + n
		t.Run(fmt.Sprintf("history=%d", seed), func(t *testing.T) {
			t.Parallel()
			p := playMoving(t, seed, 4)
			w := synced(t, p.repo.URL(), historySettings)
			o := observer{t: t, w: w, p: p, ids: map[string]int64{}, live: map[string]map[int64]changeText{}, at: p.head, moving: true}
			o.begin()
			folder := "po"
			for pulls := 0; pulls < 8 && !t.Failed(); pulls++ {
				for range p.IntN(4) {
					p.play()
				}
				if p.IntN(3) == 0 { // the configuration goes where the files went, or where they are not
					folder = map[string]string{"po": "locale", "locale": "po"}[folder]
					o.settings = inFolderSettings(folder)
					w.Configure(p.repo.URL(), "", o.settings)
				}
				w.Sync()
				o.check()
			}
		})
	}
}

// TestMovingReplayIsPulling is TestReplayIsPulling for such histories, with the
// mask in either folder.
func TestMovingReplayIsPulling(t *testing.T) {
	for n := range played() {
		seed := *firstHistory + 100 + n
		t.Run(fmt.Sprintf("history=%d", seed), func(t *testing.T) {
			t.Parallel()
			p := playMoving(t, seed, 25)
			settings := withHistory(inFolderSettings([]string{"po", "locale"}[n%2]))
			replayed := catalogtest.NewPuller(t, p.repo.URL(), settings)
			replayed.Syncer.SetBatch(1 + p.IntN(60))
			replayed.Sync()
			chain := p.firstParents()
			p.repo.ForcePush(t, "main", chain[0].hash)
			pulled := catalogtest.NewPuller(t, p.repo.URL(), settings)
			for _, c := range chain {
				p.repo.ForcePush(t, "main", c.hash)
				pulled.Sync()
			}
			compareWhole(pulled, replayed)
			equal(t, pulled.ChangesByComponent(), replayed.ChangesByComponent(), "entries differ (-pulls +replay)")
			orderedTimes(replayed)
		})
	}
}
