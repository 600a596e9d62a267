package ingest_test

import (
	"maps"
	"testing"

	"github.com/repoglot/repoglot/catalog"
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
	eachHistory(t, *firstHistory, func(t *testing.T, seed uint64) {
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

// TestMovingReplayIsPulling is TestReplayIsPulling for such histories, with the
// mask in either folder.
func TestMovingReplayIsPulling(t *testing.T) {
	eachHistory(t, *firstHistory+100, func(t *testing.T, seed uint64) {
		p := playMoving(t, seed, 25)
		p.replayIsPulling(t, withHistory(inFolderSettings([]string{"po", "locale"}[(seed-*firstHistory)%2])))
	})
}
