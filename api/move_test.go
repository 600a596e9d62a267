package api_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/catalog/store/transfer"
)

// TestExportImport: what was exported and imported, into the same engine and the other
// one, gives the same answers, has no differences, and is exported to the same bytes.
func TestExportImport(t *testing.T) {
	t.Parallel()
	repo, secret := differenceRepos(t)
	d := newDifference(t)
	d.sync([]store.ComponentSpec{
		differenceSpec("demo", "app", repo, "po/*.po", ""), differenceSpec("demo", "docs", repo, "docs/*.po", ""),
		differenceSpec("vault", "lib", secret, "po/*.po", ""),
	})
	token, err := d.DB.Access().CreateToken(t.Context(), catalog.Token{Name: "t", Scope: catalog.ScopeRead, Created: differenceNow()})
	if err != nil {
		t.Fatal(err)
	}
	answers := d.crawl(d.server())
	ask(d.kept, "/api/", "Authorization", "Token "+token) // its use is stored once a day
	history := d.DB.Position(new(catalog.Token)).History
	db, from := d.DB, d.Database()
	targets := []string{filepath.Join(t.TempDir(), "a.db"), filepath.Join(t.TempDir(), "b.db")}
	if pgtest.Chosen() {
		targets[1] = pgtest.DSN(t, targets[1]) // there and back
	}
	var first []byte
	for _, target := range targets {
		var file bytes.Buffer
		exported, err := transfer.Export(t.Context(), from, &file)
		if err != nil || exported.Rows < 100 {
			t.Fatalf("%+v, %v", exported, err)
		}
		text := unpackExport(t, file.Bytes(), db)
		if first == nil {
			first = text
		}
		if diff := cmp.Diff(string(first), string(text)); diff != "" {
			t.Errorf("%s: another export (-before +after):\n%.2000s", target, diff)
		}
		from = target
		imported, err := transfer.Import(t.Context(), &file, target, store.Options{})
		if err != nil || imported != exported {
			t.Fatalf("%s: %+v is not %+v: %v", target, imported, exported, err)
		}
		if db, err = store.Open(t.Context(), target, store.Options{}); err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		compareImported(t, d, db, answers, history, token)
	}
}

// unpackExport is an export without the name of the history.
func unpackExport(t *testing.T, file []byte, db *store.DB) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(text, []byte(db.Position(new(catalog.Token)).History), nil)
}

// compareImported compares the answers of an imported database with those before.
func compareImported(t *testing.T, d *difference, db *store.DB, answers map[[2]string]string, history, token string) {
	t.Helper()
	h := api.New(api.Options{DB: db, Languages: d.Languages, Now: differenceNow, CacheBytes: 64 << 20, TempDir: t.TempDir()})
	renewed := db.Position(new(catalog.Token)).History
	if renewed == history {
		t.Error("the history was not renewed")
	}
	for _, key := range slices.SortedFunc(maps.Keys(answers), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) }) {
		got := strings.ReplaceAll(asText(ask(h, key[0], "Accept", key[1], "Authorization", "Token any")), renewed, history)
		if diff := cmp.Diff(answers[key], got); diff != "" {
			t.Errorf("%s as %q differs (-before +after):\n%.2000s", key[0], key[1], diff)
		}
	}
	if a := ask(h, "/api/translations/vault/lib/cs/units/", "Authorization", "Token "+token); a.Code != 200 {
		t.Errorf("with a token: %d", a.Code)
	}
	err := db.Read(t.Context(), func(ctx context.Context, s *store.Snapshot) error {
		_, err := s.Verify(ctx, func(m store.Mismatch) { t.Error(m) })
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
