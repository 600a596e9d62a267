package api

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// checkObject is a failing check of a unit (ours).
type checkObject struct {
	// Unit is the URL of the unit.
	Unit string `json:"unit"`
	// Check is the name that q=check:… takes.
	Check       string `json:"check"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Failures say where; empty for checks that compare units.
	Failures []failureObject `json:"failures"`
}

// failureObject is one place where a check fails.
type failureObject struct {
	// Form and SourceForm are plural forms, from 0.
	Form       int        `json:"form"`
	SourceForm int        `json:"source_form"`
	Source     spanObject `json:"source"`
	Target     spanObject `json:"target"`
}

// spanObject is a piece of a string in code points, from start up to end.
type spanObject struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// listUnitChecks lists the failing checks of a unit.
func (s *Server) listUnitChecks(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	id, err := r.id()
	if err != nil {
		return nil, err
	}
	row, err := snap.Unit(ctx, id)
	if err != nil {
		return nil, err
	}
	t := &row.Translation
	if err := s.servable(ctx, snap, &t.Project, &t.Component); err != nil {
		return nil, err
	}
	set, err := s.checksOf(ctx, snap, t, []catalog.Unit{row.Unit})
	if err != nil {
		return nil, err
	}
	all := failedChecks(r.link, set, &row.Unit, &t.Translation)
	w, err := r.window(int64(len(all)), maxUnitsSize)
	if err != nil {
		return nil, err
	}
	return r.list(w, path("api", "units", itoa(id))+"checks/", slice(all, w)), nil
}

// listTranslationChecks lists the units of a translation with failing checks, by
// id, a page of units at a time.
func (s *Server) listTranslationChecks(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	t, err := s.visibleTranslation(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	w, err := r.window(t.Stats.Failing.Units, maxUnitsSize)
	if err != nil {
		return nil, err
	}
	units, err := snap.FailingUnits(ctx, t.ID, w.offset, w.limit)
	if err != nil {
		return nil, err
	}
	set, err := s.checksOf(ctx, snap, &t, units)
	if err != nil {
		return nil, err
	}
	objects := make([]failingObject, len(units))
	for i := range units {
		objects[i] = failingObject{ID: units[i].ID, Unit: r.link.unit(units[i].ID), Checks: failedChecks(r.link, set, &units[i], &t.Translation)}
	}
	return r.list(w, translationPath(t.Project.Slug, t.Component.Slug, t.Language)+"checks/", objects), nil
}

// checksOf makes the checks of a translation, as pulls run them, with the glossary
// where one of the units does not follow it.
func (s *Server) checksOf(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow, units []catalog.Unit) (*checks.Set, error) {
	settings := &t.Component.Settings
	var terms []checks.Term
	if slices.ContainsFunc(units, func(u catalog.Unit) bool { return checks.Mask(u.Failing).Has(checks.CheckGlossary) }) {
		found, err := snap.GlossaryUnits(ctx, store.GlossaryQuery{
			Project: t.Project.ID, Source: settings.SourceLanguage, Language: t.Language, Private: settings.Private(&t.Project),
		})
		if err != nil {
			return nil, err
		}
		for i := range found {
			u := &found[i]
			terms = append(terms, checks.TermsOf(u.Source, u.Target, u.Flags, u.State)...)
		}
	}
	return checks.ForTranslation(s.langs, &t.Project, settings, &t.Translation, terms), nil
}

// failingObject is a unit with its failing checks (ours).
type failingObject struct {
	ID     int64         `json:"id"`
	Unit   string        `json:"unit"`
	Checks []checkObject `json:"checks"`
}

func failedChecks(l links, set *checks.Set, u *catalog.Unit, t *catalog.Translation) []checkObject {
	table := checks.All()
	seen := checks.UnitOf(u, t)
	out := []checkObject{}
	for id := range checks.Mask(u.Failing).All() {
		if int(id) >= len(table) {
			continue // of newer rules
		}
		c := &table[id]
		o := checkObject{Unit: l.unit(u.ID), Check: c.Name, Name: c.Title, Description: c.Description, Failures: []failureObject{}}
		if c.Scope != checks.ScopeAcross {
			for _, f := range set.Explain(&seen, id) {
				o.Failures = append(o.Failures, failureObject{f.Form, f.SourceForm, spanObject{f.Source.From, f.Source.To}, spanObject{f.Target.From, f.Target.To}})
			}
		}
		out = append(out, o)
	}
	return out
}
