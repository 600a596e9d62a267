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

// pendingChecks are the checks of the single units of a new translation, which
// run while the units are stored, so that a first import waits for the database
// only.
type pendingChecks struct {
	done  chan struct{}
	masks []checks.Mask
}

// start starts the checks of single units. Until wait returns, the caller must
// not change the fields of units and t that checks read; ids may change.
func (k *checkup) start(ctx context.Context, c *component, t *catalog.Translation, units []unit.Unit) (*pendingChecks, error) {
	asked := slices.ContainsFunc(units, func(u unit.Unit) bool { return checks.UsesGlossary(u.Flags) })
	terms, err := k.glossaries.termsFor(ctx, &c.row.Project, &c.row.Settings, t.Language, asked)
	if err != nil {
		return nil, err
	}
	p := &pendingChecks{done: make(chan struct{}), masks: make([]checks.Mask, len(units))}
	set := checks.ForTranslation(c.selection.table, &c.row.Project, &c.row.Settings, t, terms)
	rule := catalog.Translation{IsSource: t.IsSource, PluralNumber: t.PluralNumber}
	go func() {
		defer close(p.done)
		spread(len(units), max(runtime.GOMAXPROCS(0)-1, 1), func(i int) {
			u := checks.UnitOf(&units[i].Unit, &rule)
			p.masks[i] = set.Run(&u)
		})
	}()
	return p, nil
}

// wait returns the failing checks, parallel to the units.
func (p *pendingChecks) wait() []checks.Mask {
	<-p.done
	return p.masks
}

// runAll runs the checks of single units on all cores.
func runAll(set *checks.Set, t *catalog.Translation, units []*store.CheckUnit) []checks.Mask {
	masks := make([]checks.Mask, len(units))
	spread(len(units), runtime.GOMAXPROCS(0), func(i int) {
		u := checks.UnitOf(&units[i].Unit, t)
		masks[i] = set.Run(&u)
	})
	return masks
}

// runSize is how many units one goroutine checks at a time.
const runSize = 512

// spread calls do for 0 to n-1: on several goroutines if there are more than
// runSize calls.
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
	_ = group.Wait() // no call returns an error
}
