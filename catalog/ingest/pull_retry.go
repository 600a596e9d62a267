package ingest

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/object"
)

// rereadNotes reads the files of components whose units were stored by a version
// that did not know translator comments, at the commits of the components.
func (p *pull) rereadNotes(ctx context.Context, comps []*component) {
	for _, c := range comps {
		if !c.row.LacksTranslatorComments || !c.row.Imported || c.reread {
			continue
		}
		c.reread = true // also for the jump to the head, if the mirror no longer has the commit
		at, err := object.ParseHash(c.row.Head)
		if err == nil && p.reader.Has(at) {
			err = p.snapshotOf(ctx, []*component{c}, at, c.row.Head)
		}
		if err != nil {
			p.fail(c, err)
		}
	}
}

// retry reads again the files of unmoved components that an earlier process
// could not read: it may have been an older version or have had a smaller
// max_file_size. The problems that those components still have are reported anew.
func (p *pull) retry(ctx context.Context, comps []*component) {
	for _, c := range comps {
		if c.applied || p.errs[c.row.ID] != nil {
			continue
		}
		unreadable, err := p.loadStored(ctx, c)
		if err == nil && unreadable {
			err = p.jump(ctx, []*component{c}, c.row.Head)
		}
		if err != nil {
			p.fail(c, err)
		}
	}
}

// loadStored reads what is stored of the files of a component that the pull does
// not move, and reports whether some of them cannot be read.
func (p *pull) loadStored(ctx context.Context, c *component) (unreadable bool, err error) {
	err = p.s.db.Read(ctx, func(ctx context.Context, s *store.Snapshot) error {
		problems, err := s.Problems(ctx, c.row.ID)
		if err != nil {
			return err
		}
		translations, err := s.Translations(ctx, c.row.ID)
		if err != nil {
			return err
		}
		c.loadStored(problems, translations)
		unreadable = slices.ContainsFunc(problems, func(p store.Problem) bool { return p.Blob != noBlob })
		return nil
	})
	return unreadable, err
}
