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

// longUntranslated keeps the store's table of lagging strings up to date, for
// the check long_untranslated: a source string that is old, and translated into
// far fewer languages than the others. The age of a string is measured at the
// head's committer time (docs/compatibility.md#checks), so a head that moves past
// a component's files matters as well. Only strings translated into fewer than
// half of the languages can fail. The table has them as soon as the component is
// old enough for a failure.
type longUntranslated struct {
	tx       *store.StepTx
	recounts map[int64]*recount // by component
}

// recount says for which strings of a component the step may have changed the
// number of translations.
type recount struct {
	whole   bool               // all: a translation came, went, or was checked as a whole
	sources map[int64]struct{} // else these source units
}

// maxRecounted is up to how many strings are counted singly; more are counted in
// one pass over the component.
const maxRecounted = 500

// recount returns the recount of a component.
func (l *longUntranslated) recount(component int64) *recount {
	r := l.recounts[component]
	if r == nil {
		r = &recount{sources: map[int64]struct{}{}}
		l.recounts[component] = r
	}
	return r
}

func (r *recount) note(source int64) {
	if !r.whole {
		r.sources[source] = struct{}{}
	}
}

// count brings the table up to date for a component. counted says that the table
// has the component, off that the check does not run on it.
func (l *longUntranslated) count(ctx context.Context, component int64, counted, off bool) error {
	r := l.recount(component)
	switch {
	case off:
		return l.tx.ForgetLagging(ctx, component)
	case !counted, r.whole, len(r.sources) > maxRecounted:
		return l.tx.CountLagging(ctx, component)
	}
	return l.tx.RecountLagging(ctx, component, slices.Sorted(maps.Keys(r.sources)))
}

// longUntranslated runs the check on components whose head moved.
func (k *checkup) longUntranslated(ctx context.Context, comps []*component) error {
	for _, c := range comps {
		if err := k.longUntranslatedOf(ctx, c); err != nil {
			return &componentError{c, fmt.Errorf("check: %w", err)}
		}
	}
	return nil
}

func (k *checkup) longUntranslatedOf(ctx context.Context, c *component) error {
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
	if err := k.untranslated.count(ctx, id, counted, off); err != nil {
		return err
	}
	return k.storeLongUntranslated(ctx, c, head, before)
}

// storeLongUntranslated decides which lagging strings of a component are old
// enough, created before a time, and stores what changed.
func (k *checkup) storeLongUntranslated(ctx context.Context, c *component, head, before time.Time) error {
	rows, err := k.tx.Translations(ctx, c.row.ID)
	if err != nil {
		return err
	}
	source := liveSource(rows)
	if source == nil {
		return nil
	}
	percent := translatedPercent(rows)
	lagging, err := k.tx.Lagging(ctx, c.row.ID, before)
	if err != nil {
		return err
	}
	fails := map[int64]bool{}
	for _, s := range lagging {
		fails[s.SourceID] = checks.IsLongUntranslated(daysOld(head.Sub(s.Created)), s.Translated, s.Total, percent)
	}
	failing, err := k.tx.FailingUnits(ctx, source.ID)
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
	units, err := k.unitsByID(ctx, slices.Sorted(maps.Keys(changed)))
	if err != nil {
		return err
	}
	for _, u := range units {
		mask := checks.Mask(u.Failing).Without(checks.LongUntranslated)
		if fails[u.ID] && !u.Removed && !ignores(u.Flags, checks.LongUntranslated) {
			mask = mask.With(checks.LongUntranslated)
		}
		if err := k.failures.set(ctx, u, mask); err != nil {
			return err
		}
	}
	return nil
}

// daysOld returns an age in days, rounded up: 90 days and a second are more than
// 90 days.
func daysOld(age time.Duration) int {
	const day = 24 * time.Hour
	return int((age + day - 1) / day)
}

// translatedPercent returns the percentage of translated units of a component,
// as its statistics show it.
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
