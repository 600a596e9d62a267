package resource

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

func (e *Env) listUnitChecks(ctx context.Context, snap *store.Snapshot, r *rest.Request, unit *store.UnitRow) (any, error) {
	set, err := e.ChecksOf(ctx, snap, &unit.Translation, []catalog.Unit{unit.Unit})
	if err != nil {
		return nil, err
	}
	return rest.ListOf(r, failedChecks(r.Link, set, &unit.Unit, &unit.Translation.Translation), rest.MaxUnitsSize, wire.UnitPath(unit.ID)+"checks/")
}

// listTranslationChecks lists the units of a translation with failing checks, by id.
func (e *Env) listTranslationChecks(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow) (any, error) {
	return r.List(t.Stats.Failing.Units, rest.MaxUnitsSize, pathOf(t)+"checks/", func(w rest.Window) (any, error) {
		units, err := snap.FailingUnits(ctx, t.ID, w.Offset, w.Limit)
		if err != nil {
			return nil, err
		}
		set, err := e.ChecksOf(ctx, snap, t, units)
		if err != nil {
			return nil, err
		}
		return rest.Objects(units, func(u *catalog.Unit) wire.Object {
			return wire.Object{"id", u.ID, "unit", r.Link.Unit(u.ID), "checks", failedChecks(r.Link, set, u, &t.Translation)}
		}), nil
	})
}

// ChecksOf makes the checks of a translation as pulls run them, with the
// glossary if a unit fails that check.
func (e *Env) ChecksOf(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow, units []catalog.Unit) (*checks.Set, error) {
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
	return checks.ForTranslation(e.Languages, &t.Project, settings, &t.Translation, terms), nil
}

// failedChecks are the checks that a unit fails, and the places: forms count from 0, characters of
// strings too. Checks that compare units have no places.
func failedChecks(l wire.Links, set *checks.Set, u *catalog.Unit, t *catalog.Translation) []wire.Object {
	span := func(s checks.Span) wire.Object { return wire.Object{"start", s.From, "end", s.To} }
	seen := checks.UnitOf(u, t)
	out := []wire.Object{}
	for c := range checks.Mask(u.Failing).Checks() {
		failures := []wire.Object{}
		if c.Scope != checks.ScopeAcross {
			for _, f := range set.Explain(&seen, c.ID) {
				failures = append(failures, wire.Object{"form", f.Form, "source_form", f.SourceForm, "source", span(f.Source), "target", span(f.Target)})
			}
		}
		out = append(out, wire.Object{"unit", l.Unit(u.ID), "check", c.Name, "name", c.Title, "description", c.Description, "failures", failures})
	}
	return out
}

// listCheckSums lists quality checks with how many strings fail each, the greatest first; ours.
func listCheckSums(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	numbers, err := CheckUnits(ctx, snap)
	if err != nil {
		return nil, err
	}
	all := checks.All()
	slices.SortStableFunc(all, func(a, b checks.Check) int { return cmp.Compare(numbers[b.ID], numbers[a.ID]) })
	return rest.ListOfObjects(r, all, "/api/checks/", func(c *checks.Check) wire.Object {
		return wire.Object{
			"check", c.Name, "name", c.Title, "description", c.Description, "units", numbers[c.ID],
			"units_url", r.Link.Base + "/api/units/?q=" + url.QueryEscape("check:"+c.Name),
		}
	})
}

// CheckUnits counts strings by check that they fail, in all components that the client may see.
func CheckUnits(ctx context.Context, snap *store.Snapshot) (map[checks.ID]int64, error) {
	ids, err := importedIDs(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	counts, err := snap.CheckCounts(ctx, ids)
	return UnitsByCheck(counts), err
}

// UnitsByCheck are numbers of strings by check.
func UnitsByCheck(counts []store.CheckCount) map[checks.ID]int64 {
	numbers := map[checks.ID]int64{}
	for i := range counts {
		numbers[checks.ID(counts[i].Check)] += counts[i].Units
	}
	return numbers
}
