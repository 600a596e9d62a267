package resource

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	slashpath "path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/repoglot/repoglot/api/export"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/poparse"
)

var (
	// errFormat has Weblate's text.
	errFormat   = rest.BareParameter("format", "File format is not compatible with this translation")
	errNoQ      = rest.BareParameter("q", "A search needs a format: the file as it is in the repository has all strings.")
	errArchiveQ = rest.BareParameter("q", "An archive has all strings.")
	// errNoTemplate has Weblate's text, too.
	errNoTemplate = &rest.Problem{Status: http.StatusNotFound, Detail: "No template found!"}
	errNoFile     = &rest.Problem{Status: http.StatusNotFound, Detail: "The file of this translation is not stored: it comes with the next pull that reads it."}
)

// getFile answers the bytes of a translation's file as they are in the repository, or with a
// format its strings in that format (docs/compatibility.md#files-and-exports).
func (e *Env) getFile(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow) (any, error) {
	name, _ := r.Params.Get("format")
	q, _ := r.Params.Get("q")
	if name == "" || name == "api" {
		if q != "" {
			return nil, errNoQ
		}
		return e.rawFile(ctx, snap, r, t)
	}
	format, ok := export.Lookup(name)
	if !ok {
		return nil, errFormat
	}
	expr, err := UnitQuery(r)
	if err != nil {
		return nil, err
	}
	return &rest.Download{
		ContentType: format.MediaType, Filename: downloadName(t) + "." + format.Extension, BareName: true,
		Plan: func(ctx context.Context, snap *store.Snapshot) (*rest.DownloadPlan, error) {
			return e.planExport(ctx, snap, r, format, expr)
		},
	}, nil
}

// IsFileFormat reports whether name is a format of files or of their archives.
func IsFileFormat(name string) bool {
	_, ok := export.Lookup(name)
	return ok || name == "zip"
}

// rawFile answers the file, or an empty archive without one of the source, as in Weblate.
func (e *Env) rawFile(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow) (any, error) {
	name := downloadName(t)
	if t.Filename == "" {
		return &rest.Document{ContentType: rest.TypeZip, Filename: name + ".zip", BareName: true, Body: []byte("PK\x05\x06" + strings.Repeat("\x00", 18))}, nil
	}
	name += cmp.Or(slashpath.Ext(t.Filename), ".po")
	stored, err := snap.StoredFiles(ctx, []int64{t.ID})
	if err != nil {
		return nil, err
	}
	if stored[t.ID].Stored > longFile {
		plan := func(ctx context.Context, snap *store.Snapshot) (*rest.DownloadPlan, error) {
			t, err := e.VisibleTranslation(ctx, snap, r)
			if err != nil {
				return nil, err
			}
			f, err := e.storedFile(ctx, snap, &t)
			return &rest.DownloadPlan{Tag: e.tagOf(f.Blob), Modified: f.Modified, Write: func(_ context.Context, w io.Writer) error {
				_, err := w.Write(f.Data)
				return err
			}}, err
		}
		return &rest.Download{ContentType: rest.TypePO, Filename: name, BareName: true, Plan: plan}, nil
	}
	f, err := e.storedFile(ctx, snap, t)
	return &rest.Document{ContentType: rest.TypePO, Filename: name, BareName: true, Body: f.Data, Modified: f.Modified, Ranges: true}, err
}

func (e *Env) storedFile(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow) (store.File, error) {
	f, err := snap.File(ctx, t.ID)
	if errors.Is(err, catalog.ErrNotFound) {
		e.Logger.Error("a file that is served is not stored", "file", t.Filename, "translation", t.ID)
		err = errNoFile
	}
	if err != nil || t.IsSource {
		return f, err
	}
	return f, e.applyPending(ctx, snap, t, &f)
}

// applyPending writes the pending edits of a translation into its file, as the next
// commit will have it but for its header. Those that cannot be written are left out.
func (e *Env) applyPending(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow, f *store.File) error {
	pending, err := snap.PendingTextsOf(ctx, t.ID)
	if err != nil || len(pending) == 0 {
		return err
	}
	edits, lacked := make([]edit.Edit, len(pending)), false
	for i := range pending {
		p := &pending[i]
		edits[i] = p.Edit
		lacked = lacked || p.Base.Absent()
		if p.Updated.After(f.Modified) {
			f.Modified = p.Updated.Truncate(time.Second)
		}
	}
	s := &t.Component.Settings.Edits
	o := edit.Options{Forms: t.PluralNumber, NoLocation: s.Update.NoLocation, Overrule: s.Overrule}
	if lacked {
		if o.Template, err = templateOf(ctx, snap, t); err != nil {
			return err
		}
	}
	data, _, err := edit.Apply(t.Filename, f.Data, edits, o)
	if err != nil {
		e.Logger.Error("pending edits cannot be shown in a file", "file", t.Filename, "translation", t.ID, "error", err)
		return nil
	}
	sum := sha256.Sum256(data)
	f.Data, f.Blob = data, hex.EncodeToString(sum[:])
	return nil
}

// templateOf returns the template of a translation's component, nil without one.
func templateOf(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow) (*poparse.File, error) {
	all, err := snap.Translations(ctx, t.ComponentID)
	template := store.TemplateOf(all)
	if err != nil || template == nil {
		return nil, err
	}
	f, err := snap.File(ctx, template.ID)
	if err != nil {
		return nil, err
	}
	return poparse.Parse(template.Filename, f.Data)
}

func downloadName(t *store.TranslationRow) string {
	return t.Project.Slug + "-" + t.Component.Slug + "-" + t.Language
}

// planExport reads the strings of a translation, or the ones that a search finds.
func (e *Env) planExport(ctx context.Context, snap *store.Snapshot, r *rest.Request, format export.Format, expr query.Expr) (*rest.DownloadPlan, error) {
	t, err := e.VisibleTranslation(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	p, units := &rest.DownloadPlan{}, snap.UnitsInFile(ctx, t.ID, nil)
	head := e.exportHead(r.Link, &t)
	if expr != query.All {
		if units, err = foundInOrder(ctx, snap, &t, expr); err != nil {
			return nil, err
		}
	} else { // a search may depend on the clock, so it has no ETag
		component, err := snap.Component(ctx, t.Project.Slug, t.Component.Slug)
		if err != nil {
			return nil, err
		}
		stored, err := snap.StoredFiles(ctx, []int64{t.ID})
		if err != nil {
			return nil, err
		}
		if p.Tag, err = e.exportTag(ctx, snap, format, *head, component.Generation); err != nil {
			return nil, err
		}
		p.Modified = t.LastChange
		if at := stored[t.ID].Modified; at.After(p.Modified) { // notes and locations change the file, too
			p.Modified = at
		}
	}
	p.Write = func(_ context.Context, w io.Writer) error {
		if err := format.Write(w, head, units); err != nil {
			return fmt.Errorf("export %s as %s: %w", t.Filename, format.Name, err)
		}
		return nil
	}
	return p, nil
}

// exportTag makes an ETag of what an export is made of. A generation says that the strings
// are the same in its history only: after a restore it comes again with others.
func (e *Env) exportTag(ctx context.Context, snap *store.Snapshot, format export.Format, of ...any) (string, error) {
	at, err := snap.Position(ctx, &catalog.Token{})
	return e.tagOf(append(of, at.History, format.Name)...), err
}

func (e *Env) exportHead(l wire.Links, t *store.TranslationRow) *export.Head {
	return &export.Head{
		Project: t.Project.Slug, Component: t.Component.Slug, Language: t.Language,
		ProjectName: t.Project.Settings.Name, LanguageName: e.Language(t.Language).Name,
		SourceLanguage: t.Component.Settings.SourceLanguage,
		PluralNumber:   t.PluralNumber, PluralFormula: t.PluralFormula,
		URL:      l.Web(wire.Path("projects", t.Project.Slug, t.Component.Slug, t.Language)),
		Filename: t.Filename,
	}
}

// foundInOrder returns the units that a search finds in the order of the file.
// The search finds them by id, so all ids are held in memory.
func foundInOrder(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow, expr query.Expr) (export.Units, error) {
	found, err := snap.Search(ctx, store.SearchQuery{Components: ComponentOf(t), TranslationID: t.ID, Expr: expr})
	if err != nil {
		return nil, SearchProblem(err)
	}
	ids := make(map[int64]struct{}, found.Count())
	for at := int64(0); at < found.Count(); at += exportChunk {
		units, _, err := found.Page(ctx, at, exportChunk)
		if err != nil {
			return nil, err
		}
		for i := range units {
			ids[units[i].ID] = struct{}{}
		}
	}
	return snap.UnitsInFile(ctx, t.ID, ids), nil
}

// getNewTemplate answers what new translations begin with: new_base in the repository.
func (e *Env) getNewTemplate(ctx context.Context, snap *store.Snapshot, _ *rest.Request, component *store.ComponentRow) (any, error) {
	all, err := snap.Translations(ctx, component.ID)
	if err != nil {
		return nil, err
	}
	base := component.Settings.NewBase
	i := slices.IndexFunc(all, func(t catalog.Translation) bool { return t.IsSource && t.Filename == base })
	if base == "" || i < 0 {
		return nil, errNoTemplate
	}
	f, err := snap.File(ctx, all[i].ID)
	return &rest.Document{ContentType: "application/binary", Filename: slashpath.Base(base), Body: f.Data, Modified: f.Modified, Ranges: true}, err
}

// getMonolingualBase always answers 404: PO files hold source and translation: they have none.
func getMonolingualBase(context.Context, *store.Snapshot, *rest.Request, *store.ComponentRow) (any, error) {
	return nil, errNoTemplate
}

func mayUpload(ctx context.Context, t *store.TranslationRow) error {
	err := MayEdit(ctx, t)
	if err != nil && MaySuggest(ctx, t) == nil {
		err = nil // if that is the method
	}
	if err == nil && t.IsSource {
		err = errStringReadOnly
	}
	return err
}

func (e *Env) uploadFile(ctx context.Context, _ *rest.Request, t *store.TranslationRow, body *rest.Body) (any, error) {
	data, err := body.File("file")
	if err != nil {
		return nil, err
	}
	o, by, err := uploadOptions(ctx, t, body)
	switch {
	case err != nil:
	case o.Method == edit.Suggest:
		suggester := SuggesterOf(ctx, t)
		by.Person, by.Stranger, err = suggester.Person, suggester.Stranger, MaySuggest(ctx, t)
	default:
		err = MayEdit(ctx, t)
	}
	if err != nil {
		return nil, err
	}
	n, err := Take(ctx, e.Edits, len(data), func(to Edits) (edit.Counts, error) { return to.Upload(ctx, t.Component.ID, t.ID, by, data, o) })
	answer := wire.Object{"not_found", n.NotFound, "skipped", n.Skipped, "accepted", n.Accepted, "total", n.Total, "result", n.Accepted > 0, "count", n.Total}
	if len(n.Problems) > 0 { // ours: why texts of the file cannot be edits, of the first ones
		answer = append(answer, "problems", n.Problems)
	}
	return answer, err
}

func uploadOptions(ctx context.Context, t *store.TranslationRow, body *rest.Body) (o edit.UploadOptions, by edit.Author, err error) {
	fields := map[string]string{}
	for _, name := range []string{"method", "conflicts", "fuzzy", "author_name", "author_email"} {
		if fields[name], err = body.Text(name); err != nil {
			return o, by, err
		}
	}
	o = edit.UploadOptions{Method: edit.Method(fields["method"]), Conflicts: fields["conflicts"], Fuzzy: fields["fuzzy"]}
	o.Method = cmp.Or(o.Method, edit.Translate)
	switch overwrite, err := body.Bool("overwrite"); { // wlc sends yes
	case err != nil:
		return o, by, err
	case overwrite && o.Conflicts == "":
		o.Conflicts = "replace-translated"
	}
	credited := edit.Author{Name: strings.TrimSpace(fields["author_name"]), Email: strings.TrimSpace(fields["author_email"])}
	switch {
	case credited == edit.Author{}:
		return o, AuthorOf(ctx), nil
	case mayOperateOn(ctx, RowOf(t)) != nil:
		return o, by, errAdmin
	case utf8.RuneCountInString(credited.Name) > maxAuthorName:
		return o, by, rest.BadParameter("author_name", fmt.Sprintf("Ensure this field has no more than %d characters.", maxAuthorName))
	case credited.Email != "" && !catalog.ValidEmail(credited.Email):
		return o, by, rest.BadParameter("author_email", "Enter a valid email address.")
	}
	credited.Name = catalog.PersonName(cmp.Or(credited.Name, credited.Email))
	return o, credited, nil
}
