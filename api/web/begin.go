package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/filemask"
)

// beginning is the page that begins a language in a component: first it asks which one, then it
// says what file it is, and at last it leads to the first string.
type beginning struct {
	Row       store.ComponentRow
	Languages []row // that could begin, the reader's first
	Chosen    lang.Language
	File      string
	Forms     []field
	Template  bool // the repository has a template, which a new file is made of
	Takes     bool // a new file can be made here
	May       bool
	Waits     bool   // the file was made, and is not in the repository yet
	Token     string // of the form; "" without a session
}

func beginURL(project, component, code string) string {
	return path("new-lang", project, component) + "?lang=" + code
}

func (p *Pages) begin(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view, c *store.ComponentRow) error {
	v.named(v.L.T("Begin a language"), where(c))
	all, err := snap.Translations(ctx, c.ID)
	if err != nil {
		return err
	}
	b := &beginning{Row: *c}
	v.Body = b
	b.Template = c.Settings.NewBase != "" && slices.ContainsFunc(all, func(t catalog.Translation) bool { return t.IsSource && t.Filename == c.Settings.NewBase })
	mask, err := filemask.Parse(c.Settings.Filemask)
	b.Takes = b.Template && err == nil && mask.HasLanguage() && p.env.Edits != nil && c.Settings.Edits.Taken()
	has := map[string]bool{}
	for i := range all {
		has[all[i].Language] = true
	}
	l, known := p.env.Languages.Lookup(v.param("lang"))
	if known && has[l.Code] {
		v.Next, err = p.firstLeft(ctx, snap, c, l.Code)
		return err
	}
	if known {
		return p.fillBeginning(ctx, snap, v, b, l, mask.Path(l.Code))
	}
	for _, l := range p.env.Languages.All() {
		if !has[l.Code] {
			b.Languages = append(b.Languages, row{Code: l.Code, Name: p.languageName(v.L, l.Code), rank: v.reads(l.Code)})
		}
	}
	sorted(b.Languages, "")
	return nil
}

// fillBeginning says what a language begins with, and who may begin it.
func (p *Pages) fillBeginning(ctx context.Context, snap *store.Snapshot, v *view, b *beginning, l lang.Language, file string) error {
	v.named(v.L.T("Begin %s", p.languageName(v.L, l.Code)), where(&b.Row))
	b.Chosen, b.File = l, file
	b.Forms = fields(v, &store.TranslationRow{Translation: catalog.Translation{PluralFormula: l.Plural.Formula}}, make([]string, l.Plural.Number))
	b.Token, b.May = session.FormToken(rest.AccessOf(ctx).Session), resource.MayAdd(ctx, &b.Row, l.Code) == nil
	pending, err := snap.PendingFiles(ctx, b.Row.ID)
	if b.Waits = slices.ContainsFunc(pending, func(e store.Edit) bool { return e.Kind == store.EditAddFile && e.Path == file }); b.Waits {
		v.Live, v.Refresh = true, 5
		err = cmp.Or(err, p.fillProblems(ctx, snap, v, []*store.ComponentRow{&b.Row}, false))
	}
	return err
}

// firstLeft is the address of a language's first string to translate, or of its translation.
func (p *Pages) firstLeft(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow, code string) (string, error) {
	t, err := snap.Translation(ctx, c.Project.Slug, c.Slug, code)
	if err != nil || t.IsSource {
		return path("projects", c.Project.Slug, c.Slug), err
	}
	const left = "state:<translated"
	r := &rest.Request{Params: rest.Params{{Name: "q", Value: left}}}
	units, err := findAll(ctx, snap, r, &t, p.takesMissing(&t), func(int64, int64) (from, n int) { return 0, 1 })
	if err != nil || len(units) == 0 {
		return path("projects", c.Project.Slug, c.Slug, code), err
	}
	return stringURL(&t, &units[0], left, 1), nil
}

// Begin answers the form that begins a language, whose sender was checked.
func (p *Pages) Begin(ctx context.Context, r *rest.Request) (*Edited, error) {
	row, err := resource.Read(ctx, p.env, r, p.env.ImportedComponent)
	if err == nil && p.env.Edits == nil {
		err = rest.ErrReadOnly
	}
	if err != nil {
		return nil, err
	}
	code, _ := r.Params.Get("lang")
	_, err = p.env.AddLanguage(ctx, r, &row, strings.TrimSpace(code))
	return &Edited{Next: beginURL(row.Project.Slug, row.Slug, code), Status: http.StatusSeeOther}, resource.EditProblem(err)
}
