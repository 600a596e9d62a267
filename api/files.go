package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	slashpath "path"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/api/export"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
)

// typePO is the type of a PO file as it is in the repository (facts §6).
const typePO = "text/x-gettext-catalog"

const (
	// exportChunk is how many units are read at once.
	exportChunk = 1000
	// maxDownloads bounds the exports and archives that are made side by side:
	// each takes memory or a snapshot of the store.
	maxDownloads = 8
)

var (
	// errFormat has the text that was recorded.
	errFormat = &problem{status: http.StatusBadRequest, field: "format", detail: "File format is not compatible with this translation", bare: true}
	errNoQ    = &problem{status: http.StatusBadRequest, field: "q", detail: "A search needs a format: the file as it is in the repository has all strings.", bare: true}
	errBusy   = &problem{status: http.StatusServiceUnavailable, detail: "Too many downloads are running.", retryAfter: 1}
	errNoFile = &problem{status: http.StatusNotFound, detail: "The file of this translation is not stored: it comes with the next pull that reads it."}
)

// getFile answers the bytes of a translation's file as they are in the
// repository, or with a format its strings in it (facts §6, File download).
func (s *Server) getFile(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	t, err := s.visibleTranslation(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	name, _ := r.params.get("format")
	q, _ := r.params.get("q")
	if name == "" || name == "api" {
		if q != "" {
			return nil, errNoQ
		}
		return s.rawFile(ctx, snap, &t)
	}
	format, ok := export.Lookup(name)
	if !ok {
		return nil, errFormat
	}
	return s.exported(ctx, snap, r, &t, format)
}

// rawFile is the file; a source translation without one is an empty archive, as
// in Weblate (facts §2).
func (s *Server) rawFile(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow) (any, error) {
	name := downloadName(t)
	if t.Filename == "" {
		return &document{contentType: typeZip, filename: name + ".zip", body: []byte("PK\x05\x06" + strings.Repeat("\x00", 18))}, nil
	}
	f, err := snap.File(ctx, t.ID)
	if errors.Is(err, catalog.ErrNotFound) {
		s.logger.Error("a file that is served is not stored", "file", t.Filename, "translation", t.ID)
		return nil, errNoFile
	}
	if err != nil {
		return nil, err
	}
	extension := cmp.Or(slashpath.Ext(t.Filename), ".po")
	return &document{contentType: typePO, filename: name + extension, body: f.Data, modified: f.Modified, ranges: true}, nil
}

func downloadName(t *store.TranslationRow) string {
	return t.Project.Slug + "-" + t.Component.Slug + "-" + t.Language
}

// exported are the strings of a translation, or those that q finds, in a format.
func (s *Server) exported(ctx context.Context, snap *store.Snapshot, r *request, t *store.TranslationRow, format export.Format) (any, error) {
	done, err := s.download(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	expr, err := r.unitQuery()
	if err != nil {
		return nil, err
	}
	units := unitsInOrder(ctx, snap, t.ID)
	if expr != query.All {
		if units, err = foundInOrder(ctx, snap, t, expr); err != nil {
			return nil, err
		}
	}
	var buf bytes.Buffer
	if err := format.Write(&buf, s.exportHead(r.link, t), units); err != nil {
		return nil, fmt.Errorf("export %s as %s: %w", t.Filename, format.Name, err)
	}
	return &document{
		contentType: format.MediaType, filename: downloadName(t) + "." + format.Extension, body: buf.Bytes(),
		modified: t.LastChange, ranges: true,
	}, nil
}

// download takes a place among the downloads, or is errBusy.
func (s *Server) download(ctx context.Context) (done func(), err error) {
	select {
	case s.downloads <- struct{}{}:
		return func() { <-s.downloads }, nil
	default:
		return nil, cmp.Or(ctx.Err(), error(errBusy))
	}
}

func (s *Server) exportHead(l links, t *store.TranslationRow) *export.Head {
	return &export.Head{
		Project: t.Project.Slug, Component: t.Component.Slug, Language: t.Language,
		ProjectName: t.Project.Settings.Name, LanguageName: s.language(t.Language).Name,
		SourceLanguage: t.Component.Settings.SourceLanguage,
		PluralNumber:   t.PluralNumber, PluralFormula: t.PluralFormula,
		URL:      l.web(path("projects", t.Project.Slug, t.Component.Slug, t.Language)),
		Filename: t.Filename,
	}
}

// unitsInOrder reads a translation in pieces, by position.
func unitsInOrder(ctx context.Context, snap *store.Snapshot, translation int64) export.Units {
	return func(yield func(*catalog.Unit, error) bool) {
		for offset := 0; ; offset += exportChunk {
			units, err := snap.Units(ctx, translation, offset, exportChunk)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range units {
				if !yield(&units[i], nil) {
					return
				}
			}
			if len(units) < exportChunk {
				return
			}
		}
	}
}

// foundInOrder searches a translation. What is found comes by id, so all of it
// is held and sorted by position.
func foundInOrder(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow, expr query.Expr) (export.Units, error) {
	found, err := snap.Search(ctx, store.SearchQuery{
		Components:    map[int64]*store.ComponentRow{t.Component.ID: {Component: t.Component, Project: t.Project}},
		TranslationID: t.ID, Expr: expr,
	})
	if err != nil {
		return nil, searchProblem(err)
	}
	var all []catalog.Unit
	for int64(len(all)) < found.Count() {
		units, _, err := found.Page(ctx, int64(len(all)), exportChunk)
		if err != nil {
			return nil, err
		}
		if len(units) == 0 {
			break
		}
		all = append(all, units...)
	}
	slices.SortStableFunc(all, func(a, b catalog.Unit) int { return cmp.Compare(a.Position, b.Position) })
	return func(yield func(*catalog.Unit, error) bool) {
		for i := range all {
			if !yield(&all[i], nil) {
				return
			}
		}
	}, nil
}

// getComponentFiles answers an archive of a component's files.
func (s *Server) getComponentFiles(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	if err := r.archiveFormat(); err != nil {
		return nil, err
	}
	slugs := [2]string{r.segment("project"), r.segment("component")}
	list := func(ctx context.Context, snap *store.Snapshot) ([]archived, error) {
		component, err := s.importedComponent(ctx, snap, slugs[0], slugs[1])
		if err != nil {
			return nil, err
		}
		return filesOf(ctx, snap, component.ID, "")
	}
	_, err := s.importedComponent(ctx, snap, slugs[0], slugs[1])
	return &archive{version: s.version, filename: slugs[0] + "-" + slugs[1] + ".zip", list: list}, err
}

// getProjectFiles answers an archive of the files of a project's components that
// are served, each in a folder of its name.
func (s *Server) getProjectFiles(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	if err := r.archiveFormat(); err != nil {
		return nil, err
	}
	project, err := s.visibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	list := func(ctx context.Context, snap *store.Snapshot) (all []archived, err error) {
		components, err := visibleComponents(ctx, snap, project.Slug)
		if err != nil {
			return nil, err
		}
		for i := range components {
			if !components[i].Imported {
				continue
			}
			files, err := filesOf(ctx, snap, components[i].ID, components[i].Slug+"/")
			if err != nil {
				return nil, err
			}
			all = append(all, files...)
		}
		return all, nil
	}
	return &archive{version: s.version, filename: project.Slug + ".zip", list: list}, nil
}

// archiveFormat checks the parameters of an archive.
func (r *request) archiveFormat() error {
	if name, _ := r.params.get("format"); name != "" && name != "api" && name != "zip" {
		return errFormat
	}
	if q, _ := r.params.get("q"); q != "" {
		return errNoQ
	}
	return nil
}

// filesOf lists the files of a component by path. A path that could lead out of
// the folder in which an archive is unpacked is left out.
func filesOf(ctx context.Context, snap *store.Snapshot, component int64, folder string) ([]archived, error) {
	translations, err := snap.Translations(ctx, component)
	if err != nil {
		return nil, err
	}
	var files []archived
	for i := range translations {
		t := &translations[i]
		if t.Filename != "" && fs.ValidPath(t.Filename) && !strings.ContainsAny(t.Filename, "\\:\x00") {
			files = append(files, archived{translation: t.ID, name: folder + t.Filename, revision: t.Revision})
		}
	}
	slices.SortFunc(files, func(a, b archived) int { return cmp.Compare(a.name, b.name) })
	return files, nil
}
