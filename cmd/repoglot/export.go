package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
)

// exports finds the mirrors of components that everybody may see.
type exports struct{ engine *engine }

// Repository finds the mirror of a public component.
func (e exports) Repository(r *http.Request, project, component string) (gitexport.Repository, error) {
	var key string
	err := e.engine.db.Read(r.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		row, err := snap.Component(ctx, project, component)
		if err == nil && private(row.Project.Private(), row.Settings.Access) {
			err = catalog.ErrNotFound
		}
		key = ingest.BranchKey(row.Repo, row.Branch)
		return err
	})
	switch {
	case errors.Is(err, catalog.ErrNotFound):
		return nil, gitexport.ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("finding %s/%s: %w", project, component, err)
	}
	m := e.engine.syncer.Shown(key)
	if m == nil {
		return nil, gitexport.ErrNotReady
	}
	return exported{m}, nil
}

// exported is a mirror in the terms of gitexport.
type exported struct{ mirror *gitsource.Mirror }

// UploadPack answers one round.
func (e exported) UploadPack(ctx context.Context, request []byte, version int, w io.Writer) error {
	err := e.mirror.UploadPack(ctx, gitsource.Upload{Request: request, Version: version}, w)
	if errors.Is(err, gitsource.ErrNotFetched) {
		return fmt.Errorf("%w: %w", gitexport.ErrNotReady, err)
	}
	return err
}
