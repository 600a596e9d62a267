package ingest

import (
	"context"
	"time"

	"github.com/repoglot/repoglot/catalog/ingest/checkup"
	"github.com/repoglot/repoglot/catalog/store"
)

// AtHead runs a transaction that changes strings of a component and leaves its head where it
// is. What fn changes is checked. The error wraps catalog.ErrConflict if a pull moved the
// head meanwhile.
func (s *Syncer) AtHead(ctx context.Context, row store.BranchComponent, at time.Time, fn func(context.Context, *store.StepTx) error) error {
	c, err := newComponent(row, s.table)
	if err != nil {
		return err
	}
	info := stayingAt(&row, at, row.ID)
	info.Configured = row.Configured
	_, err = s.db.Step(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return checkup.New(tx).Run(ctx, checked(c))
	})
	return err
}

// stayingAt describes a step that leaves components of one branch, which are at one commit,
// there. row is one of them.
func stayingAt(row *store.BranchComponent, at time.Time, components ...int64) store.StepInfo {
	return store.StepInfo{
		Repo: row.Repo, Branch: row.Branch, Components: components,
		From: row.Head, To: row.Head, Tracking: row.Tracking, At: at,
	}
}

// FileCode returns the code of a language in the name of a file of a component, as the
// project writes it: po/zh_CN.po has zh_CN, and is zh_Hans. ok says whether the filemask and
// language_regex select the file.
func (s *Syncer) FileCode(row *store.BranchComponent, path string) (code string, ok bool) {
	c, err := newComponent(*row, s.table)
	if err != nil {
		return "", false
	}
	return c.selection.code(path)
}
