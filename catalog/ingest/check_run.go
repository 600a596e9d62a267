package ingest

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
)

// begun are the checks of the single units of a new translation, which run while
// the units are stored: a first import waits for the database alone.
type begun struct {
	done  chan struct{}
	masks []checks.Mask
}

// begin begins them. Until wait returns, nobody may change what checks read of
// units and t; ids and what else storing gives them is another matter.
func (k *checkup) begin(ctx context.Context, c *component, t *catalog.Translation, units []unit.Unit) (*begun, error) {
	asked := slices.ContainsFunc(units, func(u unit.Unit) bool { return checks.UsesGlossary(u.Flags) })
	terms, err := k.terms(ctx, &c.row.Project, &c.row.Settings, t.Language, asked)
	if err != nil {
		return nil, err
	}
	b := &begun{done: make(chan struct{}), masks: make([]checks.Mask, len(units))}
	set := checks.ForTranslation(c.selection.table, &c.row.Project, &c.row.Settings, t, terms)
	rule := catalog.Translation{IsSource: t.IsSource, PluralNumber: t.PluralNumber}
	go func() {
		defer close(b.done)
		spread(len(units), max(runtime.GOMAXPROCS(0)-1, 1), func(i int) {
			u := checks.UnitOf(&units[i].Unit, &rule)
			b.masks[i] = set.Run(&u)
		})
	}()
	return b, nil
}

// wait returns what fails, parallel to the units.
func (b *begun) wait() []checks.Mask {
	<-b.done
	return b.masks
}

// runAll runs the checks that look at one unit, on all cores.
func runAll(set *checks.Set, t *catalog.Translation, units []*store.CheckUnit) []checks.Mask {
	masks := make([]checks.Mask, len(units))
	spread(len(units), runtime.GOMAXPROCS(0), func(i int) {
		u := checks.UnitOf(&units[i].Unit, t)
		masks[i] = set.Run(&u)
	})
	return masks
}

// runSize is up to how many units are checked by one goroutine.
const runSize = 512

// spread calls do for 0 to n-1, on some goroutines where it is worth it.
func spread(n, workers int, do func(i int)) {
	run := func(from, to int) {
		for i := from; i < to; i++ {
			do(i)
		}
	}
	if n <= runSize || workers == 1 {
		run(0, n)
		return
	}
	var group errgroup.Group
	group.SetLimit(workers)
	for from := 0; from < n; from += runSize {
		group.Go(func() error {
			run(from, min(from+runSize, n))
			return nil
		})
	}
	_ = group.Wait() // they return none
}
