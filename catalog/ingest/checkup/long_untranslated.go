package checkup

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
//
// Whether a string fails follows from its own counts and two numbers: the time before
// which strings are old, and the component's percentage. The store has those for which
// it was decided last, so a step decides about the strings that it counted, and about
// those between the numbers of before and of now.
type longUntranslated map[int64]*recount // by component

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
func (l longUntranslated) recount(component int64) *recount {
	r := l[component]
	if r == nil {
		r = &recount{sources: map[int64]struct{}{}}
		l[component] = r
	}
	return r
}

func (r *recount) note(source int64) {
	if !r.whole {
		r.sources[source] = struct{}{}
		r.whole = len(r.sources) > maxRecounted
	}
}

// LongUntranslated runs the check long_untranslated on components whose head moved. touched
// says that their strings may have changed, too.
func (k *Step) LongUntranslated(ctx context.Context, comps []*Component, touched bool) error {
	for _, c := range comps {
		if err := k.longUntranslatedOf(ctx, c, touched); err != nil {
			return c.Blame(fmt.Errorf("check: %w", err))
		}
	}
	return nil
}

func (k *Step) longUntranslatedOf(ctx context.Context, c *Component, touched bool) error {
	id := c.ID
	was, err := k.tx.LaggingState(ctx, id)
	if err != nil {
		return err
	}
	head, err := k.tx.HeadTime(ctx, id)
	if err != nil {
		return err
	}
	v := agedVerdict{head: head, now: store.LaggingState{Before: head.Add(-checks.LongUntranslatedDays * 24 * time.Hour)}}
	s := &c.Settings
	off := s.IsGlossary || checks.Ignores(s.CheckFlags, checks.LongUntranslated)
	if !was.Counted && (off || head.IsZero() || !was.Oldest.IsZero() && !was.Oldest.Before(v.now.Before)) {
		return nil
	}
	if v.now.Percent = was.Percent; !touched && !off && was.Counted && was.Decided {
		if moved, err := k.tx.LaggingBetween(ctx, id, was, v.now); err != nil || len(moved) == 0 {
			return err
		}
	}
	rows, err := k.tx.Translations(ctx, id)
	if err != nil {
		return err
	}
	v.source = liveSource(rows)
	v.now.Percent = translatedPercent(rows)
	r := k.untranslated.recount(id)
	switch {
	case off:
		if err := k.tx.ForgetLagging(ctx, id); err != nil {
			return err
		}
		return k.decideAll(ctx, id, &v)
	case !was.Counted, r.whole:
		if err := k.tx.CountLagging(ctx, id); err != nil {
			return err
		}
		err = k.decideAll(ctx, id, &v)
	case !was.Decided:
		if _, err := k.tx.RecountLagging(ctx, id, slices.Sorted(maps.Keys(r.sources))); err != nil {
			return err
		}
		err = k.decideAll(ctx, id, &v)
	default:
		err = k.decideMoved(ctx, id, &v, was, r)
	}
	if err != nil {
		return err
	}
	return k.tx.SetLaggingState(ctx, id, v.now)
}

// agedVerdict is what decides about the lagging strings of a component.
type agedVerdict struct {
	source *catalog.Translation // nil: its file is gone
	head   time.Time
	now    store.LaggingState
}

func (v *agedVerdict) fails(s *store.LaggingString) bool {
	const day = 24 * time.Hour
	days := int((v.head.Sub(s.Since) + day - 1) / day) // 90 days and a second are more than 90 days
	return checks.IsLongUntranslated(days, s.Translated, s.Total, float64(v.now.Percent)/10)
}

// decideAll decides about all lagging strings, and those that failed and no longer are.
func (k *Step) decideAll(ctx context.Context, component int64, v *agedVerdict) error {
	if v.source == nil {
		return nil
	}
	lagging, err := k.tx.Lagging(ctx, component, v.now.Before)
	if err != nil {
		return err
	}
	failing, err := k.tx.FailingUnits(ctx, v.source.ID)
	if err != nil {
		return err
	}
	fails := make(map[int64]bool)
	for id, mask := range failing {
		if checks.Mask(mask).Has(checks.LongUntranslated) {
			fails[id] = false
		}
	}
	for i := range lagging {
		id := lagging[i].SourceID
		if _, failed := fails[id]; failed || v.fails(&lagging[i]) {
			fails[id] = v.fails(&lagging[i])
		}
	}
	return k.storeLongUntranslated(ctx, fails)
}

// decideMoved decides about the strings that the step counted, and those that the
// component's percentage and the head's time decide otherwise than before.
func (k *Step) decideMoved(ctx context.Context, component int64, v *agedVerdict, was store.LaggingState, r *recount) error {
	sources := slices.Sorted(maps.Keys(r.sources))
	counted, err := k.tx.RecountLagging(ctx, component, sources)
	if err != nil || v.source == nil {
		return err
	}
	moved, err := k.tx.LaggingBetween(ctx, component, was, v.now)
	if err != nil {
		return err
	}
	fails := make(map[int64]bool, len(sources)+len(moved))
	for _, id := range sources {
		fails[id] = false
	}
	for _, list := range [][]store.LaggingString{counted, moved} {
		for i := range list {
			fails[list[i].SourceID] = v.fails(&list[i])
		}
	}
	return k.storeLongUntranslated(ctx, fails)
}

// storeLongUntranslated stores which source strings fail.
func (k *Step) storeLongUntranslated(ctx context.Context, fails map[int64]bool) error {
	units, err := k.tx.UnitsByID(ctx, slices.Sorted(maps.Keys(fails)))
	if err != nil {
		return err
	}
	return k.failures.setAll(ctx, units, func(i int) checks.Mask {
		u := units[i]
		return checks.Mask(u.Failing).Set(checks.LongUntranslated, fails[u.ID] && !u.Removed && !checks.Ignores(u.Flags, checks.LongUntranslated))
	})
}

// translatedPercent returns the percentage of translated units of a component,
// as its statistics show it, in tenths.
func translatedPercent(rows []catalog.Translation) int64 {
	var total, translated int64
	for i := range rows {
		if !rows[i].Removed {
			total += rows[i].Stats.Total.Units
			translated += rows[i].Stats.Translated.Units
		}
	}
	return int64(catalog.Percent(translated, total, 1000))
}
