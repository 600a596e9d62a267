package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/object"
)

// A replay stores the bytes of files once, at its end: until then the repository has
// them, and nobody is shown files of a component that is not imported yet. The batches
// store which versions are served.

// readLimit bounds files that were read before, perhaps with a larger max_file_size.
const readLimit = 1 << 40

// blob reads a file from the mirror.
func (p *pull) blob(ctx context.Context, id string) ([]byte, error) {
	hash, err := object.ParseHash(id)
	if err != nil {
		return nil, fmt.Errorf("stored blob: %w", err)
	}
	return p.reader.SharedBlob(ctx, hash, readLimit)
}

// storeFiles stores the bytes of the files of a component that a replay left for later.
func (p *pull) storeFiles(ctx context.Context, tx *store.StepTx, c *component) error {
	files, err := tx.LaterFiles(ctx, c.row.ID)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Data, err = p.blob(ctx, f.Blob); errors.Is(err, object.ErrUnknownObject) {
			continue // of a commit that is gone, and the file of the head cannot be parsed
		}
		if err != nil {
			return fmt.Errorf("read the file of translation %d: %w", f.TranslationID, err)
		}
		if err := tx.PutFile(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// storeReplayedFiles is storeFiles for components that were in a replay which another
// step ends: its commits are gone from the branch.
func (p *pull) storeReplayedFiles(ctx context.Context, tx *store.StepTx, comps []*component) error {
	for _, c := range comps {
		if c.row.Imported || c.row.ImportAt.IsZero() {
			continue
		}
		if err := p.storeFiles(ctx, tx, c); err != nil {
			return &componentError{c, err}
		}
	}
	return nil
}
