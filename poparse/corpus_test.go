package poparse

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestBundles reads every PO and POT file at the head of every bundle and
// compares the counts with those of msgfmt.
func TestBundles(t *testing.T) {
	repos := sharedDir(t, "data", "repos")
	bundles, err := filepath.Glob(filepath.Join(repos, "*.bundle"))
	if err != nil || len(bundles) == 0 {
		t.Fatalf("no bundles in %s: %v", repos, err)
	}
	for _, bundle := range bundles {
		name := strings.TrimSuffix(filepath.Base(bundle), ".bundle")
		t.Run(name, func(t *testing.T) {
			bundle, err := filepath.Abs(bundle)
			if err != nil {
				t.Fatal(err)
			}
			repo := cloneBundle(t, bundle)
			want := map[string]map[string]string{}
			for _, row := range tsv(t, filepath.Join(repos, "expected", name+".tsv")) {
				want[row["path"]] = row
			}
			for _, b := range headFiles(t, repo, ".po") {
				compareCounts(t, name, b, want[b.path])
				delete(want, b.path)
			}
			for path := range want {
				t.Errorf("%s is in the table but not in the bundle", path)
			}
			for _, b := range headFiles(t, repo, ".pot") {
				if _, err := Parse(b.path, b.data); err != nil {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

func compareCounts(t *testing.T, repo string, b blob, row map[string]string) {
	t.Helper()
	f, err := Parse(b.path, b.data)
	if row["translated"] == "ERR" {
		t.Logf("msgfmt fails on %s: %v", b.path, err)
		return
	}
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	want := counts{atoi(t, row["translated"]), atoi(t, row["fuzzy"]), atoi(t, row["untranslated"])}
	if got := count(f); got != want {
		t.Errorf("%s: %s: %v, msgfmt says %v", repo, b.path, got, want)
	}
}
