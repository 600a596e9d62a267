package store

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/history"
)

// ChangeQuery selects entries of a list of changes.
type ChangeQuery = history.Query

// ChangeList is a counted list of changes in one snapshot. It must not outlive the
// snapshot.
type ChangeList = history.List

func (s *Snapshot) ledger() *history.Reader { return history.NewReader(s.s, s.db.caches.spans) }

// Changes returns entries in the order of their ids. Cost depends on Limit, not
// on Offset, AfterID or the length of the list.
func (s *Snapshot) Changes(ctx context.Context, q ChangeQuery) ([]catalog.Change, error) {
	c, err := s.ChangeList(ctx, q)
	if err != nil {
		return nil, err
	}
	return c.Page(ctx, q.Offset, q.Limit)
}

// Count returns how many entries Changes would return without Offset and Limit.
func (s *Snapshot) Count(ctx context.Context, q ChangeQuery) (int64, error) {
	c, err := s.ChangeList(ctx, q)
	return c.Count(), err
}

// ChangeList counts the list of a query, without Offset and Limit. Cost does not grow with
// the list.
func (s *Snapshot) ChangeList(ctx context.Context, q ChangeQuery) (*ChangeList, error) {
	return s.ledger().List(ctx, q)
}

// Change returns one entry, or ErrNotFound.
func (s *Snapshot) Change(ctx context.Context, id int64) (catalog.Change, error) {
	return s.ledger().Change(ctx, id)
}

// NewestInLanguage returns the newest entries of the live translations of
// components into a language, up to limit, the newest first.
func (s *Snapshot) NewestInLanguage(ctx context.Context, components []int64, language string, limit int) ([]catalog.Change, error) {
	return s.ledger().NewestInLanguage(ctx, components, language, limit)
}

// NewestOfAuthor returns the newest entries of an author in components, updates among
// them, up to limit, the newest first. nil means all components.
func (s *Snapshot) NewestOfAuthor(ctx context.Context, userID int64, components []int64, limit int) ([]catalog.Change, error) {
	return s.ledger().NewestOfAuthor(ctx, userID, components, limit)
}
