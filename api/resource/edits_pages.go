package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// The form of api/web edits through these, as the API does.

// MayEdit refuses a client that may not edit the strings of a translation.
func MayEdit(ctx context.Context, t *store.TranslationRow) error { return mayEdit(ctx, t) }

// AuthorOf is who the edits of a request are by.
func AuthorOf(ctx context.Context) edit.Author { return authorOf(ctx) }

// EditProblem is what a client is told of a refused edit.
func EditProblem(err error) *rest.Problem { return rest.AsProblem(editProblem(err)) }
