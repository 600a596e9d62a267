package ingest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// TestCommitWithoutTime: what a commit brings whose committer has no time that can be read is
// of 1970, whether it is imported or replayed.
func TestCommitWithoutTime(t *testing.T) {
	u := gittest.NewUpstream[object.Hash](t)
	tree := u.Tree(gittest.Files{"po/cs.po": po("One", "Jedna")})
	u.Set("main", u.Object(plumbing.CommitObject, fmt.Appendf(nil, "tree %x\nauthor A <a@example.org>\ncommitter A <a@example.org>\n\nBy nobody\n", tree[:])))
	for _, full := range []bool{false, true} {
		w := synced(t, u.Dir, map[string]catalog.ComponentSettings{"app": {History: catalog.History{Full: full}}})
		w.EachChange(0, func(c *catalog.Change) {
			if !c.Timestamp.Equal(time.Unix(0, 0)) {
				t.Errorf("full history %v: an entry of %v", full, c.Timestamp)
			}
		})
		w.EachUnit(func(_ *catalog.Component, _ *catalog.Translation, u *catalog.Unit) {
			if u.Created.Unix() != 0 {
				t.Errorf("full history %v: a unit of %v", full, u.Created)
			}
		})
	}
}

// TestEmptyDirectoryIsNotStored: git knows the empty directory and need not store it, so a
// history that begins without files is imported, cloned or copied.
func TestEmptyDirectoryIsNotStored(t *testing.T) {
	u := gittest.NewUpstream[object.Hash](t)
	empty, err := object.ParseHash("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
	must(t, err)
	u.Push("ann", gittest.Files{"po/cs.po": po("One", "Jedna")}, u.CommitTree("ann", empty))
	for _, full := range []bool{false, true} {
		w := synced(t, u.Dir, map[string]catalog.ComponentSettings{"app": {History: catalog.History{Full: full}}})
		if got := len(w.Targets()); got != 2 {
			t.Errorf("full history %v: %d units", full, got)
		}
	}
}
