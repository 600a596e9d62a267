package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestFailingChecks: failing checks are in the unit's own field, in the counts of
// its translation, in searches, and in the lists that say where.
func TestFailingChecks(t *testing.T) {
	doubleSpace, _ := checks.ByName("double_space")
	w := demoWorld(t)
	s := serve(w, Options{})
	first := getList(t, s, searchURL(czechUnits, "source:=Open"))
	id := int64(first.Results[0]["id"].(float64))
	w.Step(w.IDs["demo/app"], repoApp, "main", head1, func(ctx context.Context, tx *store.StepTx) error {
		u := catalog.Unit{ID: id, TranslationID: id, Target: "Otevři  to", State: 20, Priority: 100}
		stored, err := tx.UnitsByID(ctx, []int64{id})
		if err != nil {
			return err
		}
		u.TranslationID = stored[0].TranslationID
		if err := tx.UpdateUnits(ctx, []store.FingerprintedUnit{{Unit: &u, Text: 99, Meta: 1}}); err != nil {
			return err
		}
		return tx.SetFailing(ctx, []store.Failing{{Unit: stored[0], Checks: checks.Mask{}.With(doubleSpace).With(checks.Inconsistent)}})
	})
	for q, want := range map[string]int{"has:check": 1, "check:double_space": 1, "check:inconsistent": 1, "check:end_stop": 0, "check:nonsense": 0} {
		found := getList(t, s, searchURL(czechUnits, q))
		if len(found.Results) != want {
			t.Errorf("q=%s finds %d units, want %d", q, len(found.Results), want)
		}
		if want == 1 && (found.Results[0]["id"] != float64(id) || found.Results[0]["has_failing_check"] != true) {
			t.Errorf("q=%s finds %v", q, found.Results[0])
		}
	}
	var of struct {
		Count   int `json:"count"`
		Results []struct {
			Check    string `json:"check"`
			Failures []struct{ Target struct{ Start int } }
		} `json:"results"`
	}
	must(t, json.Unmarshal([]byte(get(t, s, fmt.Sprintf("/api/units/%d/checks/?format=json", id))), &of))
	if of.Count != 2 || of.Results[0].Check != "double_space" || of.Results[1].Check != "inconsistent" {
		t.Fatalf("checks of the unit: %+v", of)
	}
	if f := of.Results[0].Failures; len(f) != 1 || f[0].Target.Start != 6 {
		t.Errorf("double_space is at %+v, want the 6th character", f)
	}
	if f := of.Results[1].Failures; len(f) != 0 {
		t.Errorf("inconsistent is at %+v, want no place", f)
	}
	all := getList(t, s, "/api/translations/demo/app/cs/checks/?format=json")
	if len(all.Results) != 1 || all.Results[0]["id"] != float64(id) || len(all.Results[0]["checks"].([]any)) != 2 {
		t.Errorf("checks of the translation: %v", all.Results)
	}
	var translation map[string]any
	must(t, json.Unmarshal([]byte(get(t, s, "/api/translations/demo/app/cs/?format=json")), &translation))
	if translation["failing_checks"] != 1.0 || translation["failing_checks_words"] != 1.0 {
		t.Errorf("failing_checks are %v, words %v", translation["failing_checks"], translation["failing_checks_words"])
	}
}

// The checks of a private component are not found.
func TestFailingChecksOfPrivate(t *testing.T) {
	w := demoWorld(t)
	s := serve(w, Options{})
	id := w.IDs["demo/hidden"]*catalog.UnitsPerComponent + 1
	for _, target := range []string{fmt.Sprintf("/api/units/%d/checks/", id), "/api/translations/demo/hidden/en/checks/", "/api/units/1/checks/"} {
		wantStatus(t, s, http.StatusNotFound, target)
	}
}

// putComments stores suggestions and a translator comment for Czech strings of the
// demo, and returns the units that have them.
func putComments(w *writer) (suggested, commented int64) {
	w.TB.Helper()
	id := w.IDs["demo/app"]
	var h catalog.Hasher
	sep := catalog.FormSeparator
	w.Step(id, repoApp, "main", strings.Repeat("3", 40), func(ctx context.Context, tx *store.StepTx) error {
		all, err := tx.Translations(ctx, id)
		if err != nil {
			return err
		}
		cs := translationOf(all, "cs")
		placed, err := tx.Layout(ctx, cs.ID)
		if err != nil {
			return err
		}
		suggested, commented = placed[1].ID, placed[4].ID
		u := catalog.Unit{ID: commented, TranslationID: cs.ID, Target: "Starý text", State: 10, Priority: 100, Note: "Is <it>\npolite?\nextracted", TranslatorBytes: len("Is <it>\npolite?")}
		if err := tx.UpdateUnits(ctx, []store.FingerprintedUnit{{Unit: &u, Text: h.Text(u.Target, u.State), Meta: h.Meta(u.Note, "")}}); err != nil {
			return err
		}
		fruit := h.Identity("%d banana"+sep+"%d bananas", "")
		when := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
		return tx.PutSuggestions(ctx, id, []store.Suggestion{
			{TranslationID: cs.ID, Identity: fruit, Branch: "l10n/x", Target: "%d b" + sep + "%d bb" + sep + "%d bbb", AuthorName: "Karel", AuthorEmail: "karel@example.org", At: when, Commit: head2},
			{TranslationID: cs.ID, Identity: fruit, Branch: "l10n/a", Target: "%d b", AuthorName: "Somebody", AuthorEmail: "s@example.org", Commit: head1},
			{TranslationID: cs.ID, Identity: h.Identity("Nowhere", ""), Branch: "l10n/a", Target: "Nikde", Commit: head1},
			{TranslationID: cs.ID, Identity: h.Identity("Do not touch", ""), Branch: "l10n/a", Target: "Nesahat", Commit: head1},
			{TranslationID: cs.ID, Identity: h.Identity("Message 1", ""), Branch: "l10n/a", Target: "Zpráva 1", Commit: head1},
		})
	})
	return suggested, commented
}

// TestSuggestionsAndComments reads every resource that shows them.
func TestSuggestionsAndComments(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	suggested, commented := putComments(w)
	s := serve(w, Options{Settings: Settings{BaseURL: "https://l10n.example.org"}})
	const base = "https://l10n.example.org/api"
	want := fmt.Sprintf(`{"count":2,"next":null,"previous":null,"results":[`+
		`{"unit":"%[1]s/units/%[2]d/?format=api","target":["%%d b","",""],"user":null,"author_name":"Somebody","timestamp":null,"branch":"l10n/a","commit":"%[3]s"},`+
		`{"unit":"%[1]s/units/%[2]d/?format=api","target":["%%d b","%%d bb","%%d bbb"],"user":"%[1]s/users/karel/?format=api","author_name":"Karel","timestamp":"2026-02-03T04:05:06.000000Z","branch":"l10n/x","commit":"%[4]s"}]}`,
		base, suggested, head1, head2)
	if got := get(t, s, fmt.Sprintf("/api/units/%d/suggestions/", suggested)); got != want {
		t.Errorf("suggestions:\n%s\nwant\n%s", got, want)
	}
	if list := getList(t, s, fmt.Sprintf("/api/units/%d/suggestions/?page_size=1&page=2", suggested)); list.Count != 2 || len(list.Results) != 1 {
		t.Errorf("page 2 of suggestions: %+v", list)
	}
	want = fmt.Sprintf(`{"count":1,"next":null,"previous":null,"results":[{"id":%d,"comment":"Is <it>\npolite?","user":null,"timestamp":null,"unit":"%s/units/%[1]d/?format=api"}]}`, commented, base)
	if got := get(t, s, fmt.Sprintf("/api/units/%d/comments/", commented)); got != want {
		t.Errorf("comments:\n%s\nwant\n%s", got, want)
	}
	for _, empty := range []string{fmt.Sprintf("/api/units/%d/comments/", suggested), fmt.Sprintf("/api/units/%d/suggestions/", commented)} {
		if list := getList(t, s, empty); list.Count != 0 {
			t.Errorf("%s: %d", empty, list.Count)
		}
	}
	for q, ids := range map[string][]int64{
		"has:suggestion": {suggested}, "has:comment": {commented}, "NOT has:suggestion AND has:comment": {commented},
		"suggestion:bbb": {suggested}, "suggestion:cc": nil, `comment:r"^Is"`: {commented}, "comment:extracted": nil,
		"has:suggestion OR has:comment": {suggested, commented}, "language:sr@latin has:comment": nil,
	} {
		for _, path := range []string{"/api/units/", "/api/translations/demo/app/cs/units/"} {
			var got []int64
			list := decode[struct {
				Results []struct {
					ID            int64
					HasSuggestion bool `json:"has_suggestion"`
					HasComment    bool `json:"has_comment"`
				}
			}](t, get(t, s, path+"?q="+url.QueryEscape(q)))
			for _, u := range list.Results {
				got = append(got, u.ID)
				if u.HasSuggestion != (u.ID == suggested) || u.HasComment != (u.ID == commented) {
					t.Errorf("%s: unit %d has_suggestion %v, has_comment %v", q, u.ID, u.HasSuggestion, u.HasComment)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(ids) {
				t.Errorf("%s?q=%s finds %v, want %v", path, q, got, ids)
			}
		}
	}
	for path, text := range map[string]string{
		"/api/translations/demo/app/cs/":            `"have_suggestion":1,"have_comment":1`,
		"/api/translations/demo/app/cs/statistics/": `"suggestions":1,"comments":1`,
		"/api/translations/demo/app/en/statistics/": `"suggestions":0,"comments":0`,
		"/api/projects/demo/statistics/":            `"suggestions":1,"comments":1`,
		"/api/languages/cs/statistics/":             `"suggestions":1,"comments":1`,
	} {
		if body := get(t, s, path); !strings.Contains(body, text) {
			t.Errorf("%s lacks %s: %s", path, text, body)
		}
	}
	for _, path := range []string{"/api/units/1/suggestions/", "/api/units/x/comments/", fmt.Sprintf("/api/units/%d/suggestions/", w.IDs["demo/hidden"]*catalog.UnitsPerComponent+1)} {
		if rec := call(t, s, "GET", path); rec.Code != 404 {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
}
