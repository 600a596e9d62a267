package resource_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestAddressesOfAuthors: the address of an author is in the journal, for commits, and in
// no answer; not even if it is all that is known of somebody.
func TestAddressesOfAuthors(t *testing.T) {
	e := newEditor(t)
	secret, err := e.DB.Access().CreateToken(t.Context(), catalog.Token{Name: "bot", Scope: catalog.ScopeWrite, AuthorEmail: "bot@example.org", Created: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	e.tokens["bot"] = secret
	const path = "/api/translations/demo/app/cs/"
	want := func(status int, body string, _ map[string][]string) {
		t.Helper()
		if status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	status, body, header := e.send("bot", "PATCH", e.units["app cs Open"], asForm, "target=x&state=20")
	want(status, body, header)
	po := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"Open\"\nmsgstr \"y\"\n"
	kind, upload := form(t, po, "overwrite", "true", "author_name", " ", "author_email", "eva@example.org")
	status, body, header = e.send("admin", "POST", path+"file/", kind, upload)
	want(status, body, header)
	var authors []string
	e.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		list, err := snap.PendingTexts(ctx, c.ID)
		for i := range list {
			for _, a := range list[i].Authors {
				authors = append(authors, a.Name+" <"+a.Email+">")
			}
		}
		return err
	})
	if got := strings.Join(authors, ", "); got != "bot <bot@example.org>, eva <eva@example.org>" {
		t.Errorf("authors: %s", got)
	}
	for _, path := range []string{path, path + "changes/", path + "units/", path + "edits/", e.units["app cs Open"], "/api/changes/", "/api/users/", "/api/users/eva/", "/api/projects/demo/credits/", "/changes/"} {
		status, body, _ := e.send("", "GET", path, "", "")
		if status != 200 || strings.Contains(body, "@example") {
			t.Errorf("%s: %d, %s", path, status, body)
		}
	}
}
