package resource

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/poparse/diff"
)

// Commits reads commits.
type Commits interface {
	// Subjects adds the first lines of the messages of commits of a component's branch, which
	// are full ids, to a map by id. What is not known here is left out.
	Subjects(ctx context.Context, c *store.ComponentRow, ids []string, into map[string]string) error
	// Code reads the first of some files that a component's commit has, as text; "" without one,
	// or if it is not known here. Only what a clone from here would get is read.
	Code(ctx context.Context, c *store.ComponentRow, paths []string) (text string, err error)
	// Compare tells what differs between the files of a component at two commits, which are
	// full ids. The error wraps catalog.ErrNotFound unless the component's head reaches both,
	// or is a Problem.
	Compare(ctx context.Context, c *store.ComponentRow, from, to string) (*diff.Report, error)
}

// fullID is a commit in the address that a comparison has: other addresses lead there.
var fullID = regexp.MustCompile(`^[0-9a-f]{40}$`)

// Compare compares the files of a component at the two commits that the path names. The name
// of its branch, and ids in capitals, are a Problem that leads to the address with ids.
func (e *Env) Compare(ctx context.Context, snap *store.Snapshot, r *rest.Request, c *store.ComponentRow) (*diff.Report, error) {
	if _, err := snap.HeadCommit(ctx, c.ID); err != nil || e.Commits == nil { // the answer is of a head
		return nil, cmp.Or(err, error(rest.ErrNotFound))
	}
	named := r.PathParam("commits")
	from, to, _ := strings.Cut(named, "...")
	from, to = commitOf(c, from), commitOf(c, to)
	switch ids := from + "..." + to; {
	case c.Head == "":
		return nil, &rest.Problem{Status: http.StatusServiceUnavailable, RetryAfter: rest.RetrySeconds, Detail: "This component is being read again."}
	case !fullID.MatchString(from) || !fullID.MatchString(to):
		return nil, rest.ErrNotFound
	case ids != named:
		at := strings.TrimSuffix(r.HTTP.URL.RawPath, "/") // as it was routed: EscapedPath has the slashes of a name
		at = at[:strings.LastIndexByte(at, '/')+1] + ids + "/"
		if r.HTTP.URL.RawQuery != "" {
			at += "?" + r.HTTP.URL.RawQuery
		}
		return nil, &rest.Problem{Status: http.StatusTemporaryRedirect, Location: at, Detail: ids}
	}
	return e.Commits.Compare(ctx, c, from, to)
}

// commitOf returns the id that a name stands for, or the name.
func commitOf(c *store.ComponentRow, name string) string {
	if id := strings.ToLower(name); fullID.MatchString(id) {
		return id
	}
	if branch := cmp.Or(c.Tracking, c.Branch); name == branch {
		return c.Head
	}
	return name
}

// KeepOf says whether clients may keep an answer that never changes about a component.
func KeepOf(c *store.ComponentRow) rest.Keep {
	if c.Settings.Private(&c.Project) {
		return rest.KeepNever
	}
	return rest.KeepForever
}

func (e *Env) getComparison(ctx context.Context, snap *store.Snapshot, r *rest.Request, c *store.ComponentRow) (any, error) {
	report, err := e.Compare(ctx, snap, r, c)
	return rest.Answer{Value: report, Keep: KeepOf(c)}, err
}
