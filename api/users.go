package api

import (
	"context"

	"github.com/repoglot/repoglot/catalog/store"
)

func (s *Server) getUser(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	user, err := snap.User(ctx, r.segment("username"))
	if err != nil {
		return nil, err
	}
	return newUser(r.link, &user), nil
}
