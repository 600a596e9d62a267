package transfer

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestPeople: an export and a backup have accounts with the names that are bound to them, and what
// they follow, where, and with which secret.
func TestPeople(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	type people struct {
		Accounts []catalog.Account
		Follows  []store.Follow
	}
	read := func(db *store.DB) (p people) {
		gittest.Must(t, db.Read(t.Context(), func(ctx context.Context, s *store.Snapshot) (err error) {
			if p.Accounts, err = s.Access().Accounts(ctx); err == nil {
				p.Follows, err = s.Follows(ctx, 1)
			}
			return err
		}))
		return p
	}
	db, err := store.Open(t.Context(), at("a.db"), sqldb.Options{})
	gittest.Must(t, err)
	for _, subject := range []string{"1", "2"} { // the second has no role by the name
		_, _, err := db.Access().SignIn(t.Context(), &catalog.Account{Provider: "gh", Subject: subject, Name: "Jana", AuthorName: "Jana"}, time.Hour)
		gittest.Must(t, err)
	}
	secret, err := db.Access().WantMail(t.Context(), 1, "jana@home.example", time.Hour)
	gittest.Must(t, err)
	_, err = db.Access().ConfirmMail(t.Context(), 1, secret)
	gittest.Must(t, err)
	gittest.Must(t, db.Follow(t.Context(), &store.Follow{Account: 1, Language: "cs", Project: "demo", Days: 7, Reader: "de", Due: time.Unix(1e9, 0)}))
	want := read(db)
	_, err = ExportFile(t.Context(), at("a.db"), at("export"))
	gittest.Must(t, err)
	_, err = WriteBackup(t.Context(), at("a.db"), at("backup"))
	gittest.Must(t, err)
	gittest.Must(t, db.Close())
	_, err = ImportFile(t.Context(), at("export"), at("b.db"), store.Options{})
	gittest.Must(t, err)
	_, _, err = RestoreBackup(t.Context(), at("backup"), at("c.db"))
	gittest.Must(t, err)
	for _, name := range []string{"b.db", "c.db"} {
		db, err := store.Open(t.Context(), at(name), sqldb.Options{})
		gittest.Must(t, err)
		got := read(db)
		if !reflect.DeepEqual(got, want) || len(got.Follows) != 1 || len(got.Accounts) != 2 || got.Accounts[0].Mail != "jana@home.example" || got.Accounts[0].Taken() || !got.Accounts[1].Taken() {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
		gittest.Must(t, db.Close())
	}
}
