package ingest_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

const sharedGolden = "../../../shared/data/golden/units"

// TestGoldenUnits compares state, words and position of every unit of real
// components with what Weblate 5.4.2 made of the same files.
func TestGoldenUnits(t *testing.T) {
	catalogtest.NeedShared(t, sharedGolden)
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
			w := synced(t, catalogtest.Bundle(t, filepath.Join(sharedRepos, c.bundle+".bundle")), map[string]catalog.ComponentSettings{c.name: c.settings})
			compareUnits(t, filepath.Join(sharedGolden, c.name+".tsv.gz"), unitRows(w), c.potUnits)
		})
	}
}

// unitRow is a row of the recorded table.
type unitRow struct{ state, words, position string }

// unitRows returns all units by file and id_hash.
func unitRows(w *catalogtest.Puller) map[string]unitRow {
	rows := make(map[string]unitRow)
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		components, err := s.Components(ctx, "demo")
		if err != nil {
			return err
		}
		for _, c := range components {
			translations, err := s.Translations(ctx, c.ID)
			if err != nil {
				return err
			}
			for _, tr := range translations {
				units, err := s.Units(ctx, tr.ID, 0, 1<<20)
				if err != nil {
					return err
				}
				for i := range units {
					rows[tr.Filename+"\t"+strconv.FormatInt(units[i].Identity.Hash, 10)] = unitRow{
						state:    strconv.Itoa(int(units[i].State)),
						words:    strconv.Itoa(units[i].Words),
						position: strconv.Itoa(units[i].Position),
					}
				}
			}
		}
		return nil
	})
	return rows
}

// compareUnits compares our units with the recorded ones. potUnits is the
// number of strings in the POT.
func compareUnits(t *testing.T, path string, got map[string]unitRow, potUnits int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	compared, shown := 0, 0
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		// language, file, id_hash, state, num_words, position, checks
		col := strings.Split(lines.Text(), "\t")
		if col[0] == "language" {
			continue
		}
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
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if compared < 100 {
		t.Errorf("only %d units compared", compared)
	}
	if shown > 20 {
		t.Errorf("%d of %d units differ", shown, compared)
	}
}
