package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/check"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/poparse/diff"
)

// commits reads the commits of components in their mirrors.
type commits struct {
	*ingest.Syncer
	engine *Engine
}

// Compare is that of the Syncer, with errors as clients get them.
func (c commits) Compare(ctx context.Context, row *store.ComponentRow, from, to string) (*diff.Report, error) {
	report, err := c.Syncer.Compare(ctx, row, from, to, check.CheckerOf(c.engine.languages, &row.Project, &row.Settings).In)
	later := &rest.Problem{Status: http.StatusServiceUnavailable, RetryAfter: 10}
	switch {
	case errors.Is(err, ingest.ErrNoMirror) && c.engine.cluster != nil:
		later.Detail = "This process has not pulled the repository: another process of the cluster has it."
	case errors.Is(err, ingest.ErrNoMirror):
		later.Detail = "The repository has not been fetched yet: try again in a while."
	case errors.Is(err, gitsource.ErrWalking):
		later.Detail = "The history of the branch is being read: try again in a while."
	case errors.Is(err, ingest.ErrCompareBound):
		text := err.Error()
		return nil, &rest.Problem{Status: http.StatusBadRequest, Detail: strings.ToUpper(text[:1]) + text[1:] + "."}
	default:
		return report, err
	}
	return nil, later
}
