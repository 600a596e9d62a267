package main

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// TestVerifyExit: the exit status says whether a number differs, stdout names the
// numbers, and nothing is changed.
func TestVerifyExit(t *testing.T) {
	t.Parallel()
	repo := testrepos.Load(t, "lifecycle")
	dir := t.TempDir()
	file := filepath.Join(dir, "r.yaml")
	config := "data_dir: data\nprojects:\n- slug: p\n  components:\n  - {slug: app, repo: " + repo.Path() + ", filemask: po/*.po}\n"
	must(t, os.WriteFile(file, []byte(config), 0o600))
	call := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		if got := run(t.Context(), args, strings.NewReader(""), &out, &errs); got != want {
			t.Errorf("%v: exit status %d, want %d: %s%s", args, got, want, &out, &errs)
		}
		return out.String(), errs.String()
	}
	call(exitOK, "sync", "--config", file)
	if out, errs := call(exitOK, "verify", "--config", file); !strings.HasSuffix(out, ": nothing differs\n") || errs != "" {
		t.Errorf("verify says %q, %q", out, errs)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "data", "repoglot.db"))
	must(t, err)
	if _, err := db.ExecContext(t.Context(), `UPDATE translations SET fuzzy = fuzzy + 3 WHERE is_source = 0; UPDATE projects SET changes = 1`); err != nil {
		t.Fatal(err)
	}
	must(t, db.Close())
	for range 2 { // the first one changes nothing
		out, errs := call(exitFailure, "verify", "--data-dir", filepath.Join(dir, "data"))
		if n := strings.Count(out, "\n"); !strings.Contains(out, "p/app/nb_NO: fuzzy: ") || !strings.Contains(out, "p: changes: 1 is stored, ") || strings.Contains(out, "nothing") || n < 2 ||
			!strings.HasPrefix(errs, "repoglot: ") || !strings.Contains(errs, "numbers differ: please report it") {
			t.Errorf("verify says %q, %q", out, errs)
		}
	}
	call(exitUsage, "verify", "extra")
}
