package resource_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// TestOperationsOfProject runs operations on the components of a project that take edits,
// on their branch once.
func TestOperationsOfProject(t *testing.T) {
	e := newEditor(t)
	const path = "/api/projects/demo/repository/"
	operate := func(token, operation string, status int, want string) {
		t.Helper()
		if got, answer, _ := e.send(token, "POST", path, asJSON, `{"operation": "`+operation+`"}`); got != status || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s, want %d with %s", operation, got, answer, status, want)
		}
	}
	takes := catalog.Edits{Mode: catalog.PushDirect}
	e.Configure(e.Branch.Remote.URL, "", map[string]catalog.ComponentSettings{"app": {Edits: takes}, "closed": {Filemask: "doc/*.po", Edits: takes}})
	e.Sync()
	operate("", "push", 401, "To edit this")
	operate("write", "push", 403, "it needs a token of scope admin")
	operate("other", "push", 403, "it needs a token of scope admin")
	operate("admin", "push", 200, `{"result":true}`)
	if e.operator.pushes != 1 {
		t.Errorf("%d pushes of one branch", e.operator.pushes)
	}
	both := []string{e.units["app cs Open"], e.units["closed cs Open"]}
	for _, unit := range both {
		if status, answer, _ := e.send("write", "PATCH", unit, asJSON, `{"target": ["Otevřít"], "state": 20}`); status != 200 {
			t.Errorf("%s: %d %s", unit, status, answer)
		}
	}
	operate("admin", "reset", 200, `{"result":true}`)
	for _, unit := range both {
		if _, answer, _ := e.send("", "GET", unit, "", ""); !strings.Contains(answer, `"target":[""]`) {
			t.Errorf("served after a reset: %s", answer)
		}
	}
	e.operator.fails = errors.New("declined")
	operate("admin", "push", 200, `{"result":false,"detail":"declined"}`)
}

// TestOperations runs operations on repositories, and takes edits back and restores them.
func TestOperations(t *testing.T) {
	e := newEditor(t)
	const path = "/api/components/demo/app/repository/"
	unit := e.units["app cs Open"]
	operate := func(token, operation string, status int, want string) {
		t.Helper()
		if got, answer, _ := e.send(token, "POST", path, asJSON, `{"operation": "`+operation+`"}`); got != status || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s, want %d with %s", operation, got, answer, status, want)
		}
	}
	operate("write", "push", 403, "it needs a token of scope admin")
	operate("read", "push", 403, "needs a token of scope write")
	operate("far", "push", 403, "the token is for other projects or languages")
	operate("admin", "dance", 400, `"operation":["\"dance\" is not a valid choice."]`)
	for _, operation := range []string{"commit", "push", "cleanup", "reset-keep", "file-scan", "file-sync"} {
		operate("admin", operation, 200, `{"result":true}`)
	}
	operate("admin", "pull", 200, `{"result":true,"detail":"Another process was asked to."}`)
	if e.operator.pushes != 1 || e.operator.pulls != 1 || e.operator.clones != 3 || !slices.Equal(e.operator.commits, []int{1}) {
		t.Errorf("%+v", e.operator)
	}
	if status, answer, _ := e.send("admin", "POST", "/api/components/demo/closed/repository/", asJSON, `{"operation": "push"}`); status != 403 || !strings.Contains(answer, "cannot be changed") {
		t.Errorf("of a component that takes no edits: %d %s", status, answer)
	}
	e.operator.fails = errors.New("declined")
	operate("admin", "push", 200, `{"result":false,"detail":"declined"}`)
	if status, answer, _ := e.send("admin", "POST", path, asJSON, `{}`); status != 400 || !strings.Contains(answer, `"code":"required"`) {
		t.Errorf("no operation: %d %s", status, answer)
	}

	e.operator.fails = nil
	if status, answer, _ := e.send("admin", "DELETE", "/api/translations/demo/app/cs/", "", ""); status != 202 {
		t.Errorf("removal of a language: %d %s", status, answer)
	}
	removals := func(want string) {
		t.Helper()
		if _, answer, _ := e.send("", "GET", "/api/components/demo/app/edits/?kind=remove-file&status=pending", "", ""); !strings.Contains(answer, want) {
			t.Errorf("edits of files: %s, want %s", answer, want)
		}
	}
	for _, left := range [][2]string{{"en", `"results":[{"id":1,"kind":"remove-file","unit":null,`}, {"cs", `"count":0,`}} {
		if status, answer, _ := e.send("admin", "POST", "/api/translations/demo/app/"+left[0]+"/repository/", asJSON, `{"operation": "reset"}`); status != 200 {
			t.Errorf("reset of a translation: %d %s", status, answer)
		}
		removals(left[1])
	}
	e.send("write", "PATCH", unit, asJSON, `{"target": ["Otevřít"], "state": 20}`)
	operate("admin", "reset", 200, `{"result":true}`)
	served := func(want string) {
		t.Helper()
		if _, answer, _ := e.send("", "GET", unit, "", ""); !strings.Contains(answer, want) {
			t.Errorf("served: %s, want %s", answer, want)
		}
	}
	served(`"target":[""]`)
	if _, answer, _ := e.send("", "GET", "/api/components/demo/app/edits/", "", ""); !strings.Contains(answer, `"status":"discarded","reason":"reset"`) || strings.Contains(answer, "history") {
		t.Errorf("the journal: %s", answer)
	}
	if status, answer, _ := e.send("write", "POST", "/api/edits/2/restore/", "", ""); status != 200 {
		t.Errorf("restore: %d %s", status, answer)
	}
	served(`"target":["Otevřít"]`)
	if status, answer, _ := e.send("german", "DELETE", "/api/edits/3/", "", ""); status != 403 {
		t.Errorf("delete with another token: %d %s", status, answer)
	}
	if status, answer, _ := e.send("write", "DELETE", "/api/edits/3/", "", ""); status != 200 || !strings.Contains(answer, `{"result":true}`) {
		t.Errorf("delete: %d %s", status, answer)
	}
	served(`"target":[""]`)
	if _, answer, _ := e.send("", "GET", "/api/edits/3/", "", ""); !strings.Contains(answer, `"reason":"taken back"`) || !strings.Contains(answer, `"name":"Jana Nováková","event":"discarded"`) {
		t.Errorf("one edit: %s", answer)
	}
	if status, _, _ := e.send("write", "DELETE", "/api/edits/9/", "", ""); status != 404 {
		t.Errorf("no edit: %d", status)
	}
	e.Verify()
}

// TestOperationMsgmerge compares files with their template, also if that costs them many
// strings; of a project those of components that are updated. The page of the component says
// why nothing is updated.
func TestOperationMsgmerge(t *testing.T) {
	e := newEditor(t)
	e.repo.Commit(t, testrepos.Change{Files: map[string]string{"app.pot": e.po}})
	e.Configure(e.Branch.Remote.URL, "", map[string]catalog.ComponentSettings{
		"app":    {NewBase: "app.pot", Edits: catalog.Edits{Mode: catalog.PushDirect, Update: catalog.Update{On: true}}},
		"silent": {NewBase: "app.pot", Edits: catalog.Edits{Mode: catalog.PushDirect}, Filemask: "quiet/*.po"},
		"terms":  {Edits: catalog.Edits{Mode: catalog.PushDirect, Update: catalog.Update{On: true}}, Filemask: "terms/*.po"},
	})
	e.Sync()
	operate := func(token, path, body string, status int, want string) {
		t.Helper()
		if got, answer, _ := e.send(token, "POST", "/api/"+path+"/repository/", asJSON, `{"operation": "msgmerge"`+body+`}`); got != status || !strings.Contains(answer, want) {
			t.Errorf("%s %s by %s: %d %s, want %d with %s", path, body, token, got, answer, status, want)
		}
	}
	lists := func(pending int, how string) {
		t.Helper()
		_, answer, _ := e.send("", "GET", "/api/components/demo/app/edits/?kind=template&status=pending", "", "")
		if got := strings.Count(answer, `"kind":"template"`); got != pending || !strings.Contains(answer, how) {
			t.Errorf("%d pending, %s, want %d, %s", got, answer, pending, how)
		}
	}
	operate("write", "components/demo/app", "", 403, "it needs a token of scope admin")
	operate("far", "components/demo/app", "", 403, "the token is for other projects or languages")
	operate("admin", "components/demo/app", `, "force": "perhaps"`, 400, `"force"`)
	for _, path := range []string{"components/demo/silent", "components/demo/terms"} {
		operate("admin", path, "", 400, "The component has no template that is read, or msgmerge is not set.")
	}
	lists(0, "")
	operate("admin", "components/demo/app", "", 200, `{"result":true}`)
	lists(1, `"context":"wished"`)
	operate("admin", "translations/demo/app/cs", `, "force": true`, 200, `{"result":true}`)
	lists(1, `"context":"forced"`)
	if e.operator.pushes != 2 {
		t.Errorf("%d pushes", e.operator.pushes)
	}
	if _, answer, _ := e.send("", "GET", "/api/components/demo/app/edits/?kind=template&status=discarded", "", ""); !strings.Contains(answer, "the template has changed since") {
		t.Errorf("the first wish: %s", answer)
	}

	var waits []store.Edit
	e.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		if c.Slug != "app" {
			return nil
		}
		list, err := snap.PendingFiles(ctx, c.ID)
		waits = list
		return err
	})
	page := func() string {
		t.Helper()
		_, answer, _ := e.send("", "GET", "/projects/demo/app/", "", "", "Accept", "text/html")
		return answer
	}
	const reason = "app.pot lacks 3 of 4 strings of the files"
	if text := page(); strings.Contains(text, "files are not updated to it") {
		t.Errorf("the page names a problem: %s", text)
	}
	waits[0].Reason = reason
	if err := e.DB.NotePush(t.Context(), []int64{waits[0].ComponentID}, catalog.Failure{}, waits, time.Now()); err != nil {
		t.Fatal(err)
	}
	if text := page(); !strings.Contains(text, "has changed, and files are not updated to it:") || !strings.Contains(text, reason) {
		t.Errorf("the page does not say %q: %s", reason, text)
	}

	var updates []store.Edit
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(e.Editor.UpdateFiles(t.Context(), &waits[0], "its strings", []editing.FileUpdate{{TranslationID: 1, Language: "cs", Path: "po/cs.po"}}, edit.Author{Name: "repoglot"}))
	must(e.DB.Read(t.Context(), func(ctx context.Context, snap *store.Snapshot) (err error) {
		updates, err = snap.PendingFiles(ctx, waits[0].ComponentID)
		return err
	}))
	updates[0].Reason = "po/cs.po:7: it has several domains"
	must(e.DB.NotePush(t.Context(), []int64{waits[0].ComponentID}, catalog.Failure{}, updates, time.Now()))
	if text := page(); !strings.Contains(text, "is not updated to its template:") || !strings.Contains(text, updates[0].Reason) {
		t.Errorf("the page does not name a file that cannot be updated: %s", text)
	}
	updates[0].Reason = edit.UpdateStopped
	must(e.DB.NotePush(t.Context(), []int64{waits[0].ComponentID}, catalog.Failure{}, updates, time.Now())) // it is in a request
	if text := page(); !strings.Contains(text, edit.UpdateStopped) {
		t.Errorf("the page does not say that an update stopped that waits: %s", text)
	}
	must(e.Editor.Updated(t.Context(), waits[0].ComponentID, updates))
	if text := page(); !strings.Contains(text, "was updated to its template:") || !strings.Contains(text, edit.UpdateStopped) {
		t.Errorf("the page does not say that an update stopped: %s", text)
	}
	if _, answer, _ := e.send("", "GET", "/api/components/demo/app/edits/?kind=update-file", "", ""); !strings.Contains(answer, edit.UpdateStopped) {
		t.Errorf("the edit does not say that it stopped: %s", answer)
	}
}

// TestLock locks and unlocks.
func TestLock(t *testing.T) {
	e := newEditor(t)
	const path = "/api/components/demo/app/lock/"
	edited := func(want int) {
		t.Helper()
		if status, answer, _ := e.send("write", "PATCH", e.units["app cs Open"], asForm, "target=x&state=20"); status != want {
			t.Errorf("an edit: %d %s, want %d", status, answer, want)
		}
	}
	for _, tt := range []struct {
		token, path, body string
		status            int
		want              string
	}{
		{"write", path, `{"lock": true}`, 403, "it needs a token of scope admin"},
		{"admin", path, `{}`, 400, `"lock":["This field is required."]`},
		{"admin", path, `{"lock": "perhaps"}`, 400, `"Must be a valid boolean."`},
		{"admin", "/api/components/demo/closed/lock/", `{"lock": true}`, 403, "This cannot be changed through the API"},
		{"admin", path, `{"lock": true}`, 200, `{"locked":true}`},
		{"admin", path, `{"lock": true}`, 200, `{"locked":true}`},
	} {
		if status, answer, _ := e.send(tt.token, "POST", tt.path, asJSON, tt.body); status != tt.status || !strings.Contains(answer, tt.want) {
			t.Errorf("%s %s: %d %s, want %d with %s", tt.token, tt.body, status, answer, tt.status, tt.want)
		}
	}
	if _, answer, _ := e.send("", "GET", path, "", ""); answer != `{"locked":true}` {
		t.Errorf("the lock: %s", answer)
	}
	edited(403)
	if _, answer, _ := e.send("admin", "POST", "/api/projects/demo/lock/", asForm, "lock=true"); answer != `{"locked":true}` {
		t.Errorf("locked with its project: %s", answer)
	}
	if _, answer, _ := e.send("", "GET", "/api/projects/demo/lock/", "", ""); answer != `{"locked":true}` {
		t.Errorf("the lock of the project, with a component that takes no edits: %s", answer)
	}
	if _, answer, _ := e.send("admin", "POST", "/api/projects/demo/lock/", asForm, "lock=false"); answer != `{"locked":false}` {
		t.Errorf("unlocked with its project: %s", answer)
	}
	edited(200)
	if _, answer, _ := e.send("", "GET", "/api/components/demo/app/changes/?action=14&action=15", "", ""); !strings.Contains(answer, `"count":2,`) || !strings.Contains(answer, "/api/users/admin/") {
		t.Errorf("entries: %s", answer)
	}
	e.Verify()
}

// TestEditAway: a pending edit says that its string is not in its file now.
func TestEditAway(t *testing.T) {
	e := newEditor(t)
	const reason = "the file does not have the string now"
	told := func(want bool) {
		t.Helper()
		if _, answer, _ := e.send("", "GET", "/api/components/demo/app/edits/?status=pending", "", ""); strings.Contains(answer, reason) != want || !strings.Contains(answer, `"Otevřít"`) {
			t.Errorf("told not %t: %s", want, answer)
		}
	}
	if status, answer, _ := e.send("write", "PATCH", e.units["app cs Open"], asForm, "target=Otevřít&state=20"); status != 200 {
		t.Fatal(status, answer)
	}
	told(false)
	for _, away := range []bool{true, false} {
		text := e.po
		if away {
			text = strings.Replace(text, "msgid \"Open\"\nmsgstr \"\"\n\n", "", 1)
		}
		e.repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": text}})
		e.Sync()
		told(away)
	}
}
