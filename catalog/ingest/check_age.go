package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// The check long_untranslated: a source string that is older than others and
// translated into far fewer languages. Its age is that of the unit at the head's
// committer time (decision 30), so heads that move without a file of the component
// matter, too. Only strings translated into fewer than half of the languages can
// fail; they are counted in a table of their own, from when the component is old
// enough to have any.

// recounted is what a step does to the number of translations of a component's
// strings.
type recounted struct {
	whole   bool               // a translation came, went, or was checked as a whole
	sources map[int64]struct{} // else the strings of which a translation changed
}

// tooMany is from how many strings on all are counted, in one pass.
const tooMany = 500

func (k *checkup) recounted(component int64) *recounted {
	r := k.behind[component]
	if r == nil {
		r = &recounted{sources: map[int64]struct{}{}}
		k.behind[component] = r
	}
	return r
}

func (r *recounted) note(source int64) {
	if !r.whole {
		r.sources[source] = struct{}{}
	}
}

// laterChecks are those of source strings that are decided about behind the rest.
func laterChecks(flags string) checks.Mask {
	m := checks.Mask{}.With(checks.MultipleFailures)
	if ignores(flags, checks.LongUntranslated) {
		return m
	}
	return m.With(checks.LongUntranslated)
}

// age runs the check for components whose head is another one.
func (k *checkup) age(ctx context.Context, comps []*component) error {
	for _, c := range comps {
		if err := k.ageOf(ctx, c); err != nil {
			return &componentError{c, fmt.Errorf("check: %w", err)}
		}
	}
	return nil
}

func (k *checkup) ageOf(ctx context.Context, c *component) error {
	id := c.row.ID
	counted, err := k.tx.LaggingCounted(ctx, id)
	if err != nil {
		return err
	}
	head, err := k.tx.HeadTime(ctx, id)
	if err != nil {
		return err
	}
	before := head.Add(-checks.LongUntranslatedDays * 24 * time.Hour)
	s := &c.row.Settings
	off := s.IsGlossary || ignores(s.CheckFlags, checks.LongUntranslated)
	if !counted {
		first, err := k.tx.FirstEntry(ctx, id)
		if err != nil || off || head.IsZero() || first.IsZero() || !first.Before(before) {
			return err
		}
	}
	if err := k.refreshCounters(ctx, id, counted, off); err != nil {
		return err
	}
	return k.old(ctx, c, head, before)
}

// recount brings what is counted up to date.
func (k *checkup) refreshCounters(ctx context.Context, component int64, counted, off bool) error {
	r := k.recounted(component)
	switch {
	case off:
		return k.tx.ForgetLagging(ctx, component)
	case !counted, r.whole, len(r.sources) > tooMany:
		return k.tx.CountLagging(ctx, component)
	}
	return k.tx.RecountLagging(ctx, component, slices.Sorted(maps.Keys(r.sources)))
}

// old decides about the strings that are behind and old enough.
func (k *checkup) old(ctx context.Context, c *component, head, before time.Time) error {
	rows, err := k.tx.Translations(ctx, c.row.ID)
	if err != nil {
		return err
	}
	source := slices.IndexFunc(rows, func(t catalog.Translation) bool { return t.IsSource && !t.Removed })
	if source < 0 {
		return nil
	}
	percent := translatedPercent(rows)
	behind, err := k.tx.Lagging(ctx, c.row.ID, before)
	if err != nil {
		return err
	}
	fails := map[int64]bool{}
	for _, b := range behind {
		fails[b.SourceID] = checks.IsLongUntranslated(daysOld(head.Sub(b.Created)), b.Translated, b.Total, percent)
	}
	failing, err := k.tx.FailingUnits(ctx, rows[source].ID)
	if err != nil {
		return err
	}
	changed := map[int64]struct{}{}
	for id, mask := range failing {
		if checks.Mask(mask).Has(checks.LongUntranslated) != fails[id] {
			changed[id] = struct{}{}
		}
	}
	for id := range fails {
		if fails[id] && !checks.Mask(failing[id]).Has(checks.LongUntranslated) {
			changed[id] = struct{}{}
		}
	}
	var units []*store.CheckUnit
	if err := k.tx.UnitsByID(ctx, slices.Sorted(maps.Keys(changed)), func(u *store.CheckUnit) error {
		units = append(units, u)
		return nil
	}); err != nil {
		return err
	}
	for _, u := range units {
		mask := checks.Mask(u.Failing).Without(checks.LongUntranslated)
		if fails[u.ID] && !u.Removed && !ignores(u.Flags, checks.LongUntranslated) {
			mask = mask.With(checks.LongUntranslated)
		}
		if err := k.set(ctx, u, mask); err != nil {
			return err
		}
	}
	return nil
}

// daysOld is an age in days, those begun included: 90 days and a second are more
// than 90.
func daysOld(age time.Duration) int {
	const day = 24 * time.Hour
	return int((age + day - 1) / day)
}

// translatedPercent is that of a component, as its statistics show it.
func translatedPercent(rows []catalog.Translation) float64 {
	var total, translated int64
	for i := range rows {
		if !rows[i].Removed {
			total += rows[i].Stats.Total.Units
			translated += rows[i].Stats.Translated.Units
		}
	}
	return float64(catalog.Percent(translated, total, 1000)) / 10
}
