package store

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/history"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// ChangeQuery selects entries of a list of changes.
type ChangeQuery = history.Query

// ChangeList is a counted list of changes in one snapshot. It must not outlive the
// snapshot.
type ChangeList struct {
	s     *Snapshot
	query ChangeQuery
	list  *history.List
}

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
	defer s.aboutChanges(ctx, &q).End()
	list, err := s.ledger().List(ctx, q)
	return &ChangeList{s, q, list}, s.db.fail(ctx, "count changes of "+q.Name(), err)
}

// Count is the number of entries.
func (c *ChangeList) Count() int64 { return c.list.Count() }

// Page returns up to limit entries, starting at offset. Its cost does not depend
// on offset.
func (c *ChangeList) Page(ctx context.Context, offset, limit int) ([]catalog.Change, error) {
	defer c.s.aboutChanges(ctx, &c.query).End()
	entries, err := c.list.Page(ctx, offset, limit)
	return entries, c.s.db.fail(ctx, "read changes of "+c.query.Name(), err)
}

// aboutChanges begins a section of the list that q selects from; nil for the list of
// the server.
func (s *Snapshot) aboutChanges(ctx context.Context, q *ChangeQuery) *sqldb.Reading {
	switch {
	case q.TranslationID != 0:
		return s.aboutTranslation(ctx, q.TranslationID)
	case q.ComponentID != 0:
		return s.about(q.ComponentID)
	case q.ProjectID != 0:
		return s.aboutProject(q.ProjectID)
	}
	return nil
}

// Change returns one entry, or ErrNotFound.
func (s *Snapshot) Change(ctx context.Context, id int64) (c catalog.Change, err error) {
	defer s.about().End()
	component, err := s.ledger().ComponentOf(ctx, id)
	if err == nil {
		s.addComponents([]int64{component}) // 0, if there is none, is unknown
		c, err = s.ledger().Change(ctx, id)
	}
	return c, s.db.fail(ctx, fmt.Sprintf("read change %d", id), err)
}

// NewestInLanguage returns the newest entries of the live translations of
// components into a language, up to limit, the newest first. It reads only the
// ends of their lists: one index lookup per translation, however long the list.
func (s *Snapshot) NewestInLanguage(ctx context.Context, components []int64, language string, limit int) ([]catalog.Change, error) {
	defer s.about(components...).End()
	entries, err := s.ledger().NewestInLanguage(ctx, components, language, limit)
	return entries, s.db.fail(ctx, "read the newest changes in "+language, err)
}

// NewestOfAuthor returns the newest entries of an author in components, updates among
// them, up to limit, the newest first. nil means all components.
func (s *Snapshot) NewestOfAuthor(ctx context.Context, userID int64, components []int64, limit int) ([]catalog.Change, error) {
	entries, err := s.ledger().NewestOfAuthor(ctx, userID, components, limit)
	return entries, s.db.fail(ctx, fmt.Sprintf("read the newest entries of author %d", userID), err)
}
