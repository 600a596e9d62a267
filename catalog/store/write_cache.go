package store

import "context"

// cacheSize is how much the session of a step caches: more for an import, which may
// write every page of several tables, than for what a running server pulls.
func (info *StepInfo) cacheSize() int {
	if info.Partial || info.From == "" || info.From == info.To {
		return importCache
	}
	return stepCache
}

// enlargeCache gives the step a cache of up to bulkCache, until restoreCache.
func (tx *StepTx) enlargeCache(ctx context.Context) error {
	tx.largeCache = true
	return tx.s.resizeCache(ctx, tx.s.shared.bulkCache)
}

func (tx *StepTx) restoreCache(ctx context.Context) error {
	if !tx.largeCache {
		return nil
	}
	return tx.s.resizeCache(context.WithoutCancel(ctx), tx.info.cacheSize())
}
