package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

// TestHeadCommit: the commit is shown only if it is the component's head.
func TestHeadCommit(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app")
	shown := func() *catalog.Commit {
		var c *catalog.Commit
		read(t, db, func(ctx context.Context, s *Snapshot) (err error) {
			c, err = s.HeadCommit(ctx, 1)
			return err
		})
		return c
	}
	if c := shown(); c != nil {
		t.Errorf("before the first step: %+v", c)
	}
	i := info(0, 1, 1)
	want := catalog.Commit{Hash: head(1), Author: "A", Committer: "B", AuthorTime: day(1), CommitTime: day(2), Message: "m\nn"}
	i.Commit = &want
	step(t, db, i, nothing)
	if diff := cmp.Diff(&want, shown()); diff != "" {
		t.Error(diff)
	}
	step(t, db, info(1, 1, 1), nothing)
	if shown() == nil {
		t.Error("a step that leaves the head where it is forgot the commit")
	}
	step(t, db, info(1, 2, 1), nothing)
	if c := shown(); c != nil {
		t.Errorf("at another commit: %+v", c)
	}
}
