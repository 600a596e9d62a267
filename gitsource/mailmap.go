package gitsource

import (
	"context"
	"errors"
	"fmt"

	"github.com/repoglot/repoglot/gitsource/object"
)

// mailmapLimit bounds the bytes of .mailmap; the one of Linux has 40 KiB.
const mailmapLimit = 4 << 20

// Mailmap reads .mailmap from the root of a commit. If the commit has no such file, or it is a
// symlink, which git does not follow either, the result maps nothing.
func (r *Reader) Mailmap(ctx context.Context, commit object.Hash) (object.Mailmap, error) {
	if err := ctx.Err(); err != nil {
		return object.Mailmap{}, err
	}
	n, err := r.store.Node(commit)
	if err != nil {
		return object.Mailmap{}, fmt.Errorf("read .mailmap: %w", err)
	}
	list, err := r.store.Tree(n.Tree)
	if err != nil {
		return object.Mailmap{}, fmt.Errorf("read .mailmap: %w", err)
	}
	e, ok := object.Lookup(list, ".mailmap")
	if !ok || e.Kind != object.KindFile {
		return object.Mailmap{}, nil
	}
	data, err := r.store.Blob(e.Hash, mailmapLimit)
	if errors.Is(err, object.ErrTooLarge) {
		return object.Mailmap{}, nil
	}
	if err != nil {
		return object.Mailmap{}, fmt.Errorf("read .mailmap: %w", err)
	}
	return object.ParseMailmap(string(data)), nil
}
