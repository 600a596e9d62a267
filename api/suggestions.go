package api

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// suggestionObject is a text that another branch has for a unit; ours.
type suggestionObject struct {
	Unit       string   `json:"unit"`
	Target     []string `json:"target"`
	User       *string  `json:"user"`
	AuthorName string   `json:"author_name"`
	Timestamp  *string  `json:"timestamp"`
	Branch     string   `json:"branch"`
	Commit     string   `json:"commit"`
}

// listUnitSuggestions lists the suggestions of a unit, by branch. user is null
// where its resource would be none: authors without an entry are no users.
func (s *Server) listUnitSuggestions(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	unit, translation, err := s.visibleUnit(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	list, err := snap.Suggestions(ctx, unit.ID)
	if err != nil {
		return nil, err
	}
	shown, err := shownComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	objects := make([]suggestionObject, len(list))
	for i := range list {
		n := &list[i]
		objects[i] = suggestionObject{
			Unit: r.link.unit(unit.ID), Target: catalog.TargetForms(unit.Source, n.Target, translation.PluralNumber),
			AuthorName: n.AuthorName, Branch: n.Branch, Commit: n.Commit,
		}
		if !n.At.IsZero() {
			objects[i].Timestamp = orNull(changeTime(n.At))
		}
		if n.UserID == 0 {
			continue
		}
		wrote, err := snap.WroteIn(ctx, n.UserID, shown)
		if err != nil {
			return nil, err
		}
		if wrote {
			objects[i].User = orNull(r.link.user(n.Username))
		}
	}
	return listBelow(r, unit, "suggestions/", objects)
}
