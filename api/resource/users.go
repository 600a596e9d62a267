package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// listUsers lists git authors by id, or those whose username begins with the
// parameter username.
func listUsers(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	shown, err := ShownComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	q := store.UserQuery{Components: shown}
	q.Prefix, _ = r.Params.Get("username")
	_, count, err := snap.Users(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.List(int64(count), rest.MaxPageSize, "/api/users/", func(w rest.Window) (any, error) {
		q.Offset, q.Limit = w.Offset, w.Limit
		users, _, err := snap.Users(ctx, q)
		return rest.Objects(users, func(u *store.User) wire.User { return newUser(r.Link, u) }), err
	})
}

func getUser(_ context.Context, _ *store.Snapshot, r *rest.Request, user *store.User) (any, error) {
	return newUser(r.Link, user), nil
}

func getUserStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request, user *store.User) (any, error) {
	ids, err := importedIDs(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	all, err := snap.Contributions(ctx, user.ID, ids)
	var o wire.UserStatistics
	for _, c := range all {
		o.Translated += c.Updated
		o.Suggested += c.Suggested
		o.Uploaded += c.Added
		o.Languages++
	}
	return o, err
}

func newUser(l wire.Links, u *store.User) wire.User {
	p := wire.UserPath(u.Username)
	var joined *string
	if !u.Joined.IsZero() {
		joined = wire.OrNull(wire.UnitTime(u.Joined))
	}
	return wire.User{
		Username:      u.Username,
		FullName:      u.FullName,
		URL:           l.API(p),
		DateJoined:    joined,
		StatisticsURL: l.API(p + "statistics/"),
		IsBot:         u.Bot,
	}
}
