package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
)

// part says which part of an exchange is compared, and why not all of it.
type part struct {
	compare func(t *testing.T, g *golden, r record)
	reason  string
}

// parts are the exchanges that cannot be compared as a whole, by name; the ones
// of one revision have its name first. All other exchanges are compared as a
// whole.
func parts() map[string]part {
	const (
		others  = "other components were there: what is of ours is compared"
		entries = "docs/compatibility.md#change-entries: other entries in another order; entries of both are compared one by one, and all of the second pull in compareChanges"
		people  = "docs/compatibility.md#users: our users are git authors, the recorded ones accounts; there are no groups or roles"
		nothing = "there the resource does not exist, or not in this form"
	)
	list := map[string]part{
		"projects_list":      {ofOurs(1), others},
		"components_list":    {ofOurs(2), others},
		"project_components": {ofOurs(2), others},
		"translations_list":  {ofOurs(36), others},
		"languages_list":     {ofOurs(34), others},
		"rev2/units_global":  {resultsOnly(100), others},
		"rev2/metrics_auth":  {keysOnly, others},
		"change_one":         {oneChange, entries},
		"change_two":         {oneChange, entries},
		"users_anon":         {keysOnly, people},
		"users_auth":         {keysOnly, people},
		"groups_anon":        {keysOnly, people},
		"roles_anon":         {keysOnly, people},
		"statistics":         {status(http.StatusOK), nothing + ": ours are of the whole server"},
		"format_param_csv":   {status(http.StatusOK), nothing + ": docs/compatibility.md#format-parameter, lists have CSV"},
		"tasks_404":          {body(http.StatusNotFound, notFound), "there an unknown task is one that has not begun"},
		"notfound_path":      {body(http.StatusNotFound, notFound), "docs/compatibility.md#addresses: JSON below /api/, a page there"},
		"units_q_bad":        {body(http.StatusBadRequest, `{"q":["Could not parse query string: Unsupported state: 'nonsense' at column 7"]}`), "docs/compatibility.md#search"},
		"units_q_badparen":   {body(http.StatusBadRequest, `{"q":["Could not parse query string: The parenthesis is not closed at column 1"]}`), "docs/compatibility.md#search"},
		"post_translation_anon": {
			body(http.StatusMethodNotAllowed, `{"detail":"Method \"POST\" not allowed."}`), "docs/compatibility.md#writes: a method of no version's Allow",
		},
		"delete_changes_anon": {
			body(http.StatusMethodNotAllowed, `{"detail":"Method \"DELETE\" not allowed."}`), "docs/compatibility.md#writes: a method of no version's Allow",
		},
		"bad_token":           {sameAs("translation_detail"), "docs/compatibility.md#authentication: while no token exists none is wrong; see compareTokens"},
		"bad_bearer":          {sameAs("translation_detail"), "docs/compatibility.md#authentication: while no token exists none is wrong; see compareTokens"},
		"noslash_translation": {sameAs("translation_detail"), "docs/compatibility.md#addresses: answered directly"},
		"noslash_units":       {sameAs("units_p1"), "docs/compatibility.md#addresses: answered directly"},
		// Here everybody may read it; in the recorded service only a token could.
		"component_repository_anon":   {sameAs("component_repository_auth"), "docs/compatibility.md#repository-status"},
		"translation_repository_anon": {sameAs("translation_repository_auth"), "docs/compatibility.md#repository-status"},
	}
	for _, name := range []string{
		"changes_p1", "changes_p2", "changes_pagesize_5", "changes_action71", "changes_after", "changes_all",
		"changes_component", "changes_component_all", "changes_project", "changes_global",
	} {
		list[name] = part{sharedEntries, entries}
	}
	return list
}

const notFound = `{"detail":"Not found."}`

// status compares nothing but ours.
func status(want int) func(*testing.T, *golden, record) {
	return func(t *testing.T, g *golden, r record) {
		if rec := g.send(r.method, r.target, ""); rec.Code != want {
			t.Errorf("%d, want %d: %.200s", rec.Code, want, rec.Body)
		}
	}
}

// body compares with an answer that is not the recorded one.
func body(wantStatus int, want string) func(*testing.T, *golden, record) {
	return func(t *testing.T, g *golden, r record) {
		if rec := g.send(r.method, r.target, ""); rec.Code != wantStatus || api.OldForm(rec.Body.String()) != want {
			t.Errorf("%d %s, want %d %s", rec.Code, rec.Body, wantStatus, want)
		}
	}
}

// sameAs compares with the answer that was recorded for another request.
func sameAs(name string) func(*testing.T, *golden, record) {
	return func(t *testing.T, g *golden, r record) {
		other := readRecord(t, g.revision, name+".http")
		other.name, other.method, other.target = r.name, r.method, r.target
		g.compare(t, other)
	}
}

// ofOurs compares the entries of a list that we have too, at least n, found by
// their URLs.
func ofOurs(n int) func(*testing.T, *golden, record) {
	return func(t *testing.T, g *golden, r record) {
		rec := g.send(r.method, r.target+"?page_size=1000", "")
		g.compareHead(t, r, rec)
		recorded, ours := parse(t, r.body), parse(t, rec.Body.Bytes())
		if !slices.Equal(recorded.keys, ours.keys) {
			t.Errorf("keys %v, recorded %v", ours.keys, recorded.keys)
		}
		byURL := map[string]*value{}
		for _, entry := range ours.fields["results"].items {
			byURL[normalOurs(entry.fields["url"].scalar)] = entry
		}
		c, compared := &comparer{met: g.met}, 0
		for i, entry := range recorded.fields["results"].items {
			if here := byURL[entry.fields["url"].scalar]; here != nil {
				c.compare(fmt.Sprintf(".results[%d]", i), entry, here)
				compared++
			}
		}
		c.report(t)
		if compared < n {
			t.Errorf("only %d entries compared", compared)
		}
	}
}

// changeKeys compares the keys of an entry; ours has more, which come last.
func changeKeys(t *testing.T, recorded, ours *value) {
	t.Helper()
	if want := append(slices.Clone(recorded.keys), "old", "details"); !slices.Equal(ours.keys, want) {
		t.Errorf("keys %v, recorded %v", ours.keys, recorded.keys)
	}
}

// oneChange compares the form of an entry: its number is not ours.
func oneChange(t *testing.T, g *golden, r record) {
	rec := g.send(r.method, "/api/changes/1/", "")
	g.compareHead(t, r, rec)
	changeKeys(t, parse(t, r.body), parse(t, rec.Body.Bytes()))
}

var changeID = regexp.MustCompile(`/api/changes/\d+/`)

// sharedEntries compares a page of a history: its form, and every entry that we
// have as well, told by string and text. Entry 71 is our 31.
func sharedEntries(t *testing.T, g *golden, r record) {
	rec := g.send(r.method, strings.Replace(r.target, "?page=2", "", 1), "") // ours has one page
	g.compareHead(t, r, rec)
	recorded, page := parse(t, r.body), parse(t, rec.Body.Bytes())
	if !slices.Equal(recorded.keys, page.keys) {
		t.Errorf("keys %v, recorded %v", page.keys, recorded.keys)
	}
	all := g.send(r.method, "/api/changes/?page_size=1000", "")
	ours := map[string]*value{}
	for _, e := range parse(t, all.Body.Bytes()).fields["results"].items {
		ours[entryKey(e, nil)] = e
	}
	delete(ours, "")
	c, compared := &comparer{met: g.met}, 0
	for i, e := range recorded.fields["results"].items {
		here := ours[entryKey(e, g.ours)]
		if here == nil {
			continue
		}
		changeKeys(t, e, here)
		compared++
		for _, key := range e.keys {
			switch key {
			case "id", "timestamp", "user", "author", "action", "action_name": // docs/compatibility.md#change-entries; the action is in entryKey
			default:
				at := fmt.Sprintf(".results[%d].%s", i, key)
				if want, got := changeID.ReplaceAllString(normalRecorded(e.fields[key].scalar), ""), changeID.ReplaceAllString(normalOurs(here.fields[key].scalar), ""); want != got {
					c.failf(at, "%s, recorded %s", got, want)
				}
			}
		}
	}
	c.report(t)
	g.entries += compared
}

// entryKey identifies an entry by its string, action and text. ids maps the
// recorded strings to ours. It is "" if the entry is not about one of them.
func entryKey(e *value, ids map[string]string) string {
	unit := ""
	if m := unitID.FindStringSubmatch(e.fields["unit"].scalar); m != nil {
		unit = m[1]
		if ids != nil {
			unit = ids[unit]
		}
	}
	if unit == "" {
		return ""
	}
	action := strings.Replace(e.fields["action"].scalar, " 71", " 31", 1)
	return unit + "|" + action + "|" + e.fields["target"].scalar
}

// compareTokens sends the exchanges with unknown tokens to a server that has a
// token: only then is a token wrong (docs/compatibility.md#authentication).
func (g *golden) compareTokens(t *testing.T) {
	if _, err := g.db.Access().CreateToken(t.Context(), catalog.Token{Name: "t", Scope: catalog.ScopeRead, Created: time.Unix(0, 0)}); err != nil {
		t.Fatal(err)
	}
	for _, r := range readRecords(t, g.revision) {
		if !strings.HasPrefix(r.name, "bad_") {
			continue
		}
		t.Run(r.name, func(t *testing.T) { g.compareAs(t, r, intended{status: r.status, headers: true}) })
	}
}

// compareHead compares status and headers.
func (g *golden) compareHead(t *testing.T, r record, rec *httptest.ResponseRecorder) {
	t.Helper()
	if rec.Code != r.status {
		t.Errorf("%d, recorded %d", rec.Code, r.status)
	}
	for _, name := range []string{"Allow", "Content-Type", "WWW-Authenticate"} {
		if got := rec.Header().Get(name); got != r.header.Get(name) {
			t.Errorf("%s %q, recorded %q", name, got, r.header.Get(name))
		}
	}
}

// report fails for every difference, up to 20.
func (c *comparer) report(t *testing.T) {
	t.Helper()
	for i, d := range c.problems {
		if i == 20 {
			t.Fatalf("%d differences", len(c.problems))
		}
		t.Error(d)
	}
}

// keysOnly compares headers and keys.
func keysOnly(t *testing.T, g *golden, r record) {
	rec := g.send(r.method, r.target, r.header.Get("x-sent-authorization"))
	g.compareHead(t, r, rec)
	if recorded, ours := parse(t, r.body), parse(t, rec.Body.Bytes()); !slices.Equal(recorded.keys, ours.keys) {
		t.Errorf("keys %v, recorded %v", ours.keys, recorded.keys)
	}
}

// resultsOnly compares the entries of a page, not how many there are in all.
func resultsOnly(size int) func(*testing.T, *golden, record) {
	return func(t *testing.T, g *golden, r record) {
		rec := g.send(r.method, fmt.Sprintf("%s?page_size=%d", r.target, size), "")
		g.compareHead(t, r, rec)
		c := &comparer{met: g.met}
		c.compare(".results", parse(t, r.body).fields["results"], parse(t, rec.Body.Bytes()).fields["results"])
		c.report(t)
	}
}

// compareAccept compares the answers that were recorded for other media types
// than JSON; the index does not name them.
func (g *golden) compareAccept(t *testing.T) {
	for name, accept := range notIndexed() {
		r := readRecord(t, "rev2", name+".http")
		req := httptest.NewRequest(http.MethodGet, "/api/translations/demo/rich/cs/", nil)
		req.Host = goldenHost
		req.Header.Set("Accept", accept)
		rec := httptest.NewRecorder()
		g.handler.ServeHTTP(rec, req)
		g.compareHead(t, r, rec)
		if page := strings.HasPrefix(accept, "text/html"); !page && api.OldForm(rec.Body.String()) != string(r.body) {
			t.Errorf("%s: %s, recorded %s", accept, rec.Body, r.body)
		}
	}
}

// notIndexed are the recorded answers that the index of the second revision does
// not name, and the Accept that each is an answer to.
func notIndexed() map[string]string {
	return map[string]string{"accept_html": "text/html", "accept_xml": "application/xml"}
}
