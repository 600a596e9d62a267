package resource

import (
	"context"
	"net/http"
	slashpath "path"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// errNoTemplate has Weblate's text.
func errNoTemplate() error {
	return &rest.Problem{Status: http.StatusNotFound, Detail: "No template found!"}
}

// getNewTemplate answers the file that new translations begin with: the POT of
// new_base, as it is in the repository.
func (e *Env) getNewTemplate(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	component, err := e.importedComponent(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	base := component.Settings.NewBase
	all, err := snap.Translations(ctx, component.ID)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if base == "" || !all[i].IsSource || all[i].Filename != base {
			continue
		}
		f, err := snap.File(ctx, all[i].ID)
		if err != nil {
			return nil, err
		}
		return &rest.Document{ContentType: "application/binary", Filename: slashpath.Base(base), Body: f.Data, Modified: f.Modified, Ranges: true}, nil
	}
	return nil, errNoTemplate()
}

// getMonolingualBase always answers 404: PO files hold source and translation,
// so they have no such file.
func getMonolingualBase(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	_, err := visibleComponent(ctx, snap, r)
	if err == nil {
		err = errNoTemplate()
	}
	return nil, err
}
