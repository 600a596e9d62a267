package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// A unit with failing checks shows them everywhere: its own field, the counts of
// its translation, searches, and the lists that say where.
func TestFailingChecks(t *testing.T) {
	w := catalogtest.Demo(t)
	s := serve(w, Options{})
	first := getList(t, s, searchURL(czechUnits, "source:=Open"))
	id := int64(first.Results[0]["id"].(float64))
	w.Step(w.IDs["demo/app"], catalogtest.RepoApp, "main", catalogtest.Head1, func(ctx context.Context, tx *store.StepTx) error {
		u := catalog.Unit{ID: id, TranslationID: id, Target: "Otevři  to", State: 20, Priority: 100}
		return tx.UnitsByID(ctx, []int64{id}, func(stored *store.CheckUnit) error {
			u.TranslationID = stored.TranslationID
			if err := tx.UpdateUnits(ctx, []store.FingerprintedUnit{{Unit: &u, Text: 99, Meta: 1}}); err != nil {
				return err
			}
			return tx.SetFailing(ctx, stored, checks.Mask{}.With(checks.DoubleSpace).With(checks.Inconsistent))
		})
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
		Count   int          `json:"count"`
		Results []wire.Check `json:"results"`
	}
	if err := json.Unmarshal([]byte(get(t, s, fmt.Sprintf("/api/units/%d/checks/?format=json", id))), &of); err != nil {
		t.Fatal(err)
	}
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
	if err := json.Unmarshal([]byte(get(t, s, "/api/translations/demo/app/cs/?format=json")), &translation); err != nil {
		t.Fatal(err)
	}
	if translation["failing_checks"] != 1.0 || translation["failing_checks_words"] != 1.0 {
		t.Errorf("failing_checks are %v, words %v", translation["failing_checks"], translation["failing_checks_words"])
	}
}

// The checks of private strings are not shown.
func TestFailingChecksOfPrivate(t *testing.T) {
	w := catalogtest.Demo(t)
	s := serve(w, Options{})
	id := w.IDs["demo/hidden"]*catalog.UnitsPerComponent + 1
	for _, target := range []string{fmt.Sprintf("/api/units/%d/checks/", id), "/api/translations/demo/hidden/en/checks/", "/api/units/1/checks/"} {
		if rec := call(t, s, http.MethodGet, target); rec.Code != http.StatusNotFound {
			t.Errorf("%s answers %d, want 404", target, rec.Code)
		}
	}
}
