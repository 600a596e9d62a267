package store

import (
	"context"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// cacheSize is how much the session of a step caches: more for an import, which may
// write every page of several tables, than for what a running server pulls.
func (info *StepInfo) cacheSize() int {
	if info.Partial || info.From == "" || info.From == info.To {
		return sqldb.ImportCache
	}
	return sqldb.StepCache
}

// enlargeCache gives the step a cache of up to bulkCache, until restoreCache.
func (tx *StepTx) enlargeCache(ctx context.Context) error {
	tx.largeCache = true
	return tx.s.ResizeCache(ctx, tx.s.DB.BulkCache)
}

func (tx *StepTx) restoreCache(ctx context.Context) error {
	if !tx.largeCache {
		return nil
	}
	return tx.s.ResizeCache(context.WithoutCancel(ctx), tx.info.cacheSize())
}
