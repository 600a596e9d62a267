package resource

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/export"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

type archived struct {
	translation store.TranslationRow // its Generation is the component's
	folder      string               // "" or with a slash
	name        string               // with the folder
	file        store.StoredFile     // its Blob is "" if the store has no bytes
}

// getFiles answers an archive of files: as they are in the repository, or converted
// with the format zip:<name> (docs/compatibility.md#files-and-exports).
func (e *Env) getFiles(_ context.Context, _ *store.Snapshot, r *rest.Request) (any, error) {
	name, _ := r.Params.Get("format")
	converted, convert := strings.CutPrefix(name, "zip:")
	format, known := export.Lookup(converted)
	if convert && !known || !convert && name != "" && name != "api" && name != "zip" {
		return nil, errFormat
	}
	if q, _ := r.Params.Get("q"); q != "" {
		return nil, errArchiveQ
	}
	plan := func(ctx context.Context, snap *store.Snapshot) (*rest.DownloadPlan, error) {
		files, modified, err := e.archivedFiles(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		var of strings.Builder
		for i := range files {
			fmt.Fprintf(&of, "%q %s %d\n", files[i].name, files[i].file.Blob, files[i].file.Modified.Unix())
		}
		p := &rest.DownloadPlan{Tag: e.tagOf(of.String()), Fixed: true, Modified: modified}
		// A source translation without a file of its own has another one's filename.
		once := slices.CompactFunc(slices.Clone(files), func(a, b archived) bool { return a.name == b.name })
		p.Write = func(ctx context.Context, w io.Writer) error { return e.writeArchive(ctx, snap, w, once, rawEntry) }
		if convert {
			made := []any{p.Tag}
			for i := range files {
				t := &files[i].translation
				made = append(made, *e.exportHead(r.Link, t), t.Generation)
			}
			if p.Tag, err = e.exportTag(ctx, snap, format, made...); err != nil {
				return nil, err
			}
			p.Write = func(ctx context.Context, w io.Writer) error {
				return e.writeArchive(ctx, snap, w, files, e.convertedEntry(r.Link, format))
			}
		}
		return p, nil
	}
	return &rest.Download{ContentType: rest.TypeZip, Filename: strings.Join(pathNames(r), "-") + ".zip", Plan: plan}, nil
}

// archivedFiles lists the files that the path names: of a component, by path; of the served
// components of a project, each in a folder of the component's slug; or those of one language.
func (e *Env) archivedFiles(ctx context.Context, snap *store.Snapshot, r *rest.Request) (all []archived, newest time.Time, err error) {
	if r.PathParam("component") != "" {
		component, err := e.ImportedComponent(ctx, snap, r)
		if err != nil {
			return nil, newest, err
		}
		return filesOf(ctx, snap, &component, "")
	}
	components, err := namedComponents(ctx, snap, r)
	for _, c := range components {
		if err != nil || !c.Imported {
			continue
		}
		files, modified, problem := filesOf(ctx, snap, c, c.Slug+"/")
		all, err = append(all, files...), problem
		if modified.After(newest) {
			newest = modified
		}
	}
	if code := r.PathParam("code"); code != "" && err == nil {
		all = slices.DeleteFunc(all, func(f archived) bool { return f.translation.Language != code })
		if len(all) == 0 {
			err = rest.ErrNotFound
		}
	}
	return all, newest, err
}

// tagOf makes an ETag of everything that the bytes depend on.
func (e *Env) tagOf(parts ...any) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %#v", e.Version, parts)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:15])
}

// filesOf lists the files of a component by path. modified is the time of the newest change,
// and a removed file is a change, so it is never before the newest commit. Paths that could
// lead out of the folder in which an archive is unpacked are left out.
func filesOf(ctx context.Context, snap *store.Snapshot, component *store.ComponentRow, folder string) (files []archived, modified time.Time, err error) {
	translations, err := snap.Translations(ctx, component.ID)
	if err != nil {
		return nil, modified, err
	}
	ids := rest.Objects(translations, func(t *catalog.Translation) int64 { return t.ID })
	stored, err := snap.StoredFiles(ctx, ids)
	if err != nil {
		return nil, modified, err
	}
	if head, err := snap.HeadCommit(ctx, component.ID); err != nil {
		return nil, modified, err
	} else if head != nil {
		modified = head.CommitTime
	}
	for i := range translations {
		t := &translations[i]
		if t.Filename != "" && fs.ValidPath(t.Filename) && !strings.ContainsAny(t.Filename, "\\:\x00") {
			row := store.TranslationRow{Translation: *t, Component: component.Component, Project: component.Project, Generation: component.Generation}
			files = append(files, archived{translation: row, folder: folder, name: folder + t.Filename, file: stored[t.ID]})
		}
		if stored[t.ID].Modified.After(modified) {
			modified = stored[t.ID].Modified
		}
	}
	slices.SortFunc(files, func(a, b archived) int { return cmp.Compare(a.name, b.name) })
	return files, modified, nil
}

type entryWriter func(ctx context.Context, snap *store.Snapshot, z *zip.Writer, f *archived) error

// writeArchive writes ZIP. The entries have the times of their commits: the same files give the
// same bytes. Files that the store lacks are logged, and listed in an entry of the archive.
func (e *Env) writeArchive(ctx context.Context, snap *store.Snapshot, w io.Writer, files []archived, write entryWriter) error {
	z := zip.NewWriter(w)
	var missing []string
	for i := range files {
		f := &files[i]
		err := catalog.ErrNotFound
		if f.file.Blob != "" {
			err = write(ctx, snap, z, f)
		}
		if errors.Is(err, catalog.ErrNotFound) {
			e.Logger.Error("a file that is served is not stored", "file", f.name, "translation", f.translation.ID)
			missing = append(missing, f.name)
			continue
		}
		if err != nil {
			return fmt.Errorf("archive %s: %w", f.name, err)
		}
	}
	if len(missing) > 0 {
		entry, err := z.Create("MISSING.txt")
		if err != nil {
			return err
		}
		text := "These files are not stored, they come with the next pull that reads them:\n\n" + strings.Join(missing, "\n") + "\n"
		if _, err := io.WriteString(entry, text); err != nil {
			return err
		}
	}
	return z.Close()
}

func rawEntry(ctx context.Context, snap *store.Snapshot, z *zip.Writer, a *archived) error {
	f, err := snap.File(ctx, a.translation.ID)
	if err != nil {
		return err
	}
	entry, err := z.CreateHeader(&zip.FileHeader{Name: a.name, Method: zip.Deflate, Modified: f.Modified.UTC()})
	if err == nil {
		_, err = entry.Write(f.Data)
	}
	return err
}

// convertedEntry writes the strings of a file in a format, under the name that
// their own download has, in the folder of the component.
func (e *Env) convertedEntry(l wire.Links, format export.Format) entryWriter {
	return func(ctx context.Context, snap *store.Snapshot, z *zip.Writer, a *archived) error {
		t := &a.translation
		name := a.folder + downloadName(t) + "." + format.Extension
		entry, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: a.file.Modified.UTC()})
		if err != nil {
			return err
		}
		return format.Write(entry, e.exportHead(l, t), snap.UnitsInFile(ctx, t.ID, nil))
	}
}
