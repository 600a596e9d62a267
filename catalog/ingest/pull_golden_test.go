package ingest_test

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestGoldenUnits compares state, words and position of every unit of real
// components with what Weblate 5.4.2 made of the same files.
func TestGoldenUnits(t *testing.T) {
	golden := gittest.Shared(t, "data", "golden", "units")
	for _, c := range []struct {
		name, bundle string
		settings     catalog.ComponentSettings
		potUnits     int
	}{
		{"dnf", "dnf-plugins-core", catalog.ComponentSettings{NewBase: "po/dnf-plugins-core.pot"}, 316},
		{"django", "demo", catalog.ComponentSettings{Filemask: "weblate/locale/*/LC_MESSAGES/django.po", NewBase: "weblate/locale/django.pot"}, 26},
		{"switchboard", "switchboard", catalog.ComponentSettings{NewBase: "po/io.elementary.settings.pot"}, 12},
		{"vim", "vim-po", catalog.ComponentSettings{Filemask: "src/po/*.po", NewBase: "src/po/vim.pot", LanguageRegex: "^[^.]+$"}, 3114},
		{"hello", "hello", catalog.ComponentSettings{NewBase: "po/hello.pot"}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			if slowUnderRace(c.bundle) {
				t.Skip("skipped under the race detector")
			}
			t.Parallel()
			w := synced(t, gittest.Bundle(t, c.bundle), map[string]catalog.ComponentSettings{c.name: c.settings})
			compareUnits(t, filepath.Join(golden, c.name+".tsv.gz"), unitRows(w), c.potUnits)
		})
	}
}

// unitRow is a row of the recorded table.
type unitRow struct{ state, words, position string }

// unitRows returns all units by file and id_hash.
func unitRows(w *catalogtest.Puller) map[string]unitRow {
	rows := make(map[string]unitRow)
	w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		rows[tr.Filename+"\t"+strconv.FormatInt(u.Identity.Hash, 10)] = unitRow{
			state: strconv.Itoa(int(u.State)), words: strconv.Itoa(u.Words), position: strconv.Itoa(u.Position),
		}
	})
	return rows
}

// recordedUnits reads a table of recorded units, with the columns language, file,
// id_hash, state, num_words, position and checks.
func recordedUnits(t *testing.T, path string) (rows [][]string) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		if col := strings.Split(lines.Text(), "\t"); col[0] != "language" {
			rows = append(rows, col)
		}
	}
	must(t, lines.Err())
	return rows
}

// compareUnits compares our units with the recorded ones. potUnits is the
// number of strings in the POT.
func compareUnits(t *testing.T, path string, got map[string]unitRow, potUnits int) {
	t.Helper()
	compared, shown := 0, 0
	for _, col := range recordedUnits(t, path) {
		compared++
		want := unitRow{col[3], col[4], col[5]}
		g := got[col[1]+"\t"+col[2]]
		if position, _ := strconv.Atoi(g.position); strings.HasSuffix(col[1], ".pot") && position > potUnits {
			// Strings that the POT lacks come after it; Weblate copies the
			// position in the file that the string came from
			// (docs/compatibility.md#source-translation).
			g.position = want.position
		}
		if g != want {
			if shown++; shown <= 20 {
				t.Errorf("%s %s %s: state, words, position %v, recorded %v", col[0], col[1], col[2], g, want)
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d units compared", compared)
	}
	if shown > 20 {
		t.Errorf("%d of %d units differ", shown, compared)
	}
}
