package web

import (
	"context"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

type user struct {
	User      store.User
	Languages []store.Contribution
	Activity  activity
	Changes   []change
	Updated   int64
	Added     int64
}

const userChanges = 50

func (p *Pages) user(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	u, err := resource.VisibleUser(ctx, snap, r)
	if err != nil {
		return err
	}
	v.named(u.FullName, "repoglot")
	o := user{User: u}
	rows, err := resource.VisibleComponents(ctx, snap, "")
	if err != nil {
		return err
	}
	if o.Languages, err = snap.Contributions(ctx, u.ID, resource.ImportedIDs(rows)); err != nil {
		return err
	}
	for _, c := range o.Languages {
		o.Updated += c.Updated
		o.Added += c.Added
	}
	shown, err := resource.ShownComponents(ctx, snap)
	if err != nil {
		return err
	}
	weeks, err := snap.WeeksOfAuthor(ctx, u.ID, shown, v.now.AddDate(0, 0, -7*maxWeekBars))
	if err == nil && len(weeks) == 0 { // what somebody did long ago is of interest, too
		weeks, err = snap.WeeksOfAuthor(ctx, u.ID, shown, time.Unix(0, 0))
	}
	if err != nil {
		return err
	}
	p.fillWeeks(v, &o.Activity, weeks)
	entries, err := snap.NewestOfAuthor(ctx, u.ID, shown, userChanges)
	if err != nil {
		return err
	}
	o.Changes, err = p.changes(ctx, snap, v, entries)
	v.Body = o
	return err
}
