package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
)

// exports finds the mirrors of components for git_export.
type exports struct {
	engine  *Engine
	visitor func(r *http.Request, basic bool) (api.Visitor, error)
}

// Repository finds the mirror of a component. Git sends a token only after it was
// asked for one, so a client without a token is asked for one if the component is
// private, and also if it does not exist. It is not asked while there are no
// tokens.
func (e exports) Repository(r *http.Request, project, component string) (_ gitexport.Repository, err error) {
	defer func() {
		if errors.Is(err, store.ErrUnavailable) {
			err = fmt.Errorf("%w: %w", gitexport.ErrNoDatabase, err)
		}
	}()
	visitor, err := e.visitor(r, true)
	if err != nil {
		return nil, fmt.Errorf("looking at a token: %w", err)
	}
	if visitor.Refused {
		return nil, gitexport.ErrCredentials
	}
	var key string
	err = e.engine.db.Read(r.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		row, err := snap.Component(ctx, project, component)
		if err == nil && row.Settings.Private(&row.Project) && !visitor.Token.Sees(row.Project.Slug) {
			err = catalog.ErrNotFound
		}
		key = ingest.BranchKey(row.Repo, row.Branch)
		return err
	})
	switch {
	case errors.Is(err, catalog.ErrNotFound) && visitor.MayReturn && visitor.Token.ID == 0:
		return nil, gitexport.ErrCredentials
	case errors.Is(err, catalog.ErrNotFound):
		return nil, gitexport.ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("finding %s/%s: %w", project, component, err)
	}
	m := e.engine.syncer.Shown(key)
	switch {
	case m == nil && e.engine.cluster != nil:
		return nil, gitexport.ErrElsewhere
	case m == nil:
		return nil, gitexport.ErrNotReady
	}
	client := ""
	if visitor.Token.ID != 0 {
		client = limit.Token(visitor.Token.ID)
	}
	return exported{m, client}, nil
}

// exported is a mirror in the terms of gitexport.
type exported struct {
	mirror *gitsource.Mirror
	client string // "" without a token
}

// Client names the client by its token.
func (e exported) Client() string { return e.client }

// UploadPack answers one round.
func (e exported) UploadPack(ctx context.Context, request []byte, version int, w io.Writer) error {
	err := e.mirror.UploadPack(ctx, gitsource.Upload{Request: request, Version: version}, w)
	switch {
	case errors.Is(err, gitsource.ErrNotFetched):
		err = fmt.Errorf("%w: %w", gitexport.ErrNotReady, err)
	case errors.Is(err, gitsource.ErrNoGit):
		err = fmt.Errorf("%w: %w", gitexport.ErrNoGit, err)
	case errors.Is(err, gitsource.ErrBadRequest):
		err = fmt.Errorf("%w: %w", gitexport.ErrRequest, err)
	}
	return err
}
