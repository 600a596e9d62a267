package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/poparse/plural"
)

// review is the list of suggestions that wait for a language.
type review struct {
	Rows   []*waiting
	Action string // where the form is sent
	Token  string // the session's form token; "" if the reader may answer none of Rows
	Done   int    // suggestions that were answered just now
	Failed bool   // some were not
}

// waiting is a suggestion with its string.
type waiting struct {
	store.Edit
	Row        store.TranslationRow
	URL, Where string
	Forms, Now []string // of the source, and of the text that the string has
	SourceLang string
	Texts      []string // suggested
	Fields     []field  // for whoever may answer
	Failing    []*checks.Check
	Asked      string // names of Failing
	Refused    string // that the program could not use it, in the reader's words
	Detail     string // what it says itself, if there are no such words
	Hidden     bool   // only those who are signed in see its texts
	Why        string // the word that was sent with an answer
	Wrong      string // why it was not answered
	unit       catalog.Unit
}

// review makes the page of the suggestions for translations, in place of another one.
func (p *Pages) review(ctx context.Context, snap *store.Snapshot, v *view, components, translations []int64) error {
	v.Template = "review"
	v.named(v.L.T("Suggestions"), v.Title)
	list, err := editsOnPage(ctx, snap, v, store.EditQuery{Components: components, Waits: translations}, suggestionsOnPage)
	done, _ := strconv.Atoi(v.param("answered"))
	o := &review{Action: v.with("answered", ""), Done: done}
	for i := 0; i < len(list) && err == nil; i++ {
		var w *waiting
		if w, err = p.readWaiting(ctx, snap, v, list[i]); err == nil {
			o.add(ctx, w)
		}
	}
	v.Body = o
	return err
}

// editsOnPage reads the edits of a page that shows so many.
func editsOnPage(ctx context.Context, snap *store.Snapshot, v *view, q store.EditQuery, size int) ([]store.Edit, error) {
	_, count, err := snap.Edits(ctx, q)
	if err != nil {
		return nil, err
	}
	v.Pages = window(v, "page", int64(count), size)
	q.Offset, q.Limit, q.Counted = v.Pages.offset(), size, true
	list, _, err := snap.Edits(ctx, q)
	return list, err
}

func (o *review) add(ctx context.Context, w *waiting) {
	if a := rest.AccessOf(ctx); w.Fields != nil && a.Session != "" {
		o.Token = session.FormToken(a.Session)
	}
	o.Rows = append(o.Rows, w)
}

// readWaiting reads the string of a suggestion, and looks at its text.
func (p *Pages) readWaiting(ctx context.Context, snap *store.Snapshot, v *view, e store.Edit) (*waiting, error) {
	row, err := snap.Translation(ctx, e.Project, e.Component, e.Language)
	if err != nil {
		return nil, err
	}
	w := &waiting{Edit: e, Row: row, Where: where(resource.RowOf(&row)), SourceLang: row.Component.Settings.SourceLanguage, Forms: showForms(e.Source)}
	w.Hidden = resource.HidesText(ctx, e.Stranger)
	o, err := p.openString(ctx, snap, &row, e.Identity.Hash)
	if err != nil || o == nil {
		return w, err
	}
	w.unit, w.URL = o.Unit, stringURL(&row, &o.Unit, "", 0)
	if w.Hidden {
		return w, nil
	}
	if o.Unit.Target != "" {
		w.Now = showForms(o.Unit.Target)
	}
	target := catalog.TargetForms(e.Source, e.Ours.Target, row.PluralNumber)
	w.Texts = showForms(catalog.JoinForms(target))
	if !o.Unit.Removed && rest.AccessOf(ctx).Session != "" && p.env.Edits != nil && resource.MayEdit(ctx, &row) == nil {
		w.Fields = fields(v, &row, target)
	}
	return w, p.lookAt(ctx, snap, v, w, target)
}

// lookAt fills what checks say of a text for the string.
func (p *Pages) lookAt(ctx context.Context, snap *store.Snapshot, v *view, w *waiting, target []string) error {
	w.Refused, w.Detail, w.Failing = "", "", nil
	text, refused := edit.NewText(target, catalog.StateTranslated, len(target))
	var failing checks.Mask
	var err error
	if refused == nil {
		failing, refused, err = p.look(ctx, snap, &w.Row, w.unit, text)
	}
	if refused != nil {
		w.Refused, w.Detail = toldRefusal(v, fields(v, &w.Row, target), refused)
	}
	var names []string
	for c := range failing.Checks() {
		w.Failing, names = append(w.Failing, c), append(names, c.Name)
	}
	w.Asked = strings.Join(names, ",")
	return err
}

// look says of a text for a string why its program could not use it, and which checks fail.
func (p *Pages) look(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow, unit catalog.Unit, text edit.Text) (failing checks.Mask, refused, err error) {
	formula, _ := plural.Compile(t.PluralFormula)
	if refused = edit.CheckUnit(&unit, text, formula); refused != nil {
		return failing, refused, nil
	}
	unit.Target, unit.State, unit.Failing = text.Target, text.State, checks.Mask{}.With(checks.CheckGlossary) // which has its terms read
	set, err := p.env.ChecksOf(ctx, snap, t, []catalog.Unit{unit})
	if err == nil {
		seen := checks.UnitOf(&unit, &t.Translation)
		failing = set.Run(&seen)
	}
	return failing, nil, err
}

// Review answers the form of the list: each suggestion that was chosen, on its own.
func (p *Pages) Review(ctx context.Context, r *rest.Request) (*Edited, error) {
	f := r.HTTP.PostForm
	do, one, _ := strings.Cut(f.Get("do"), ":")
	ids := f["id"]
	if one != "" {
		ids = []string{one}
	}
	if do != "accept" && do != "reject" || len(ids) > suggestionsOnPage {
		return nil, errNotHere
	}
	v := p.newView(r.HTTP, r.Params)
	var failed []*waiting
	done := 0
	for _, id := range slices.Compact(ids) {
		w, err := p.answer(ctx, v, f, id, do == "accept")
		switch {
		case err != nil:
			return nil, err
		case w.Wrong == "":
			done++
		default:
			failed = append(failed, w)
		}
	}
	if len(failed) == 0 {
		return &Edited{Next: v.with("answered", strconv.Itoa(done)), Status: http.StatusSeeOther}, nil
	}
	fill := build(p.language)
	if r.PathParam("component") != "" {
		fill = of(p.env.VisibleTranslation, p.aboutTranslation, p.translation)
	}
	err := p.env.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error { return fill(ctx, snap, r, v) })
	o, ok := v.Body.(*review)
	if err != nil || !ok {
		return nil, cmp.Or(err, error(errNotHere))
	}
	o.Done, o.Failed = done, true
	for _, w := range slices.Backward(failed) {
		o.Rows = slices.Insert(slices.DeleteFunc(o.Rows, func(other *waiting) bool { return other.ID == w.ID }), 0, w)
	}
	body, err := p.execute("review", v)
	return &Edited{Status: http.StatusConflict, Page: body}, err
}

// answer accepts or rejects one suggestion, or says in Wrong why not. Errors are the server's.
func (p *Pages) answer(ctx context.Context, v *view, f url.Values, id string, accept bool) (w *waiting, err error) {
	number, _ := strconv.ParseInt(id, 10, 64)
	a := edit.Answer{ID: number, Accept: accept, Why: resource.WhyOf(cmp.Or(f.Get("why"+id), f.Get("why")))}
	err = p.env.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		e, _, err := p.env.VisibleEdit(ctx, snap, number)
		if err != nil {
			return err
		}
		if w, err = p.readWaiting(ctx, snap, v, e); err != nil || w.Fields == nil || !accept {
			return err
		}
		for _, text := range f["target"+id] {
			a.Target = append(a.Target, strings.ReplaceAll(text, "\r\n", "\n"))
		}
		if len(a.Target) != len(w.Fields) {
			a.Target = nil
			return nil
		}
		w.Fields = fields(v, &w.Row, a.Target)
		return p.lookAt(ctx, snap, v, w, a.Target)
	})
	if w == nil && rest.AsProblem(err).Status == http.StatusNotFound {
		return &waiting{Edit: store.Edit{ID: number}, Wrong: v.L.T("Somebody answered it meanwhile.")}, nil
	}
	if err != nil {
		return nil, err
	}
	w.Why, a.UnitID = a.Why, w.UnitID
	asked := strings.Split(f.Get("asked"+id), ",")
	switch {
	case w.Fields == nil:
		w.Wrong = v.L.T("This was not done:") + " " + rest.AsProblem(cmp.Or(resource.MayEdit(ctx, &w.Row), error(errNotHere))).Detail
	case accept && w.Refused != "":
		w.Wrong = strings.TrimSpace(w.Refused + " " + w.Detail)
	case accept && slices.ContainsFunc(w.Failing, func(c *checks.Check) bool { return !slices.Contains(asked, c.Name) }):
		w.Wrong = v.L.T("This text fails checks. It is not stored yet:")
	default:
		err = p.env.AnswerSuggestion(ctx, w.ComponentID, w.TranslationID, a)
	}
	switch problem := rest.AsProblem(resource.EditProblem(err)); {
	case err == nil:
	case problem == rest.ErrInternal:
		return nil, err
	case problem.Status == http.StatusNotFound:
		w.Wrong = v.L.T("Somebody answered it meanwhile.")
	default:
		w.Wrong = v.L.T("This was not done:") + " " + problem.Detail
	}
	return w, nil
}
