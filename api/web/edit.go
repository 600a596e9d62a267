package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/api/web/intl"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/poparse/plural"
)

// editForm is the form that edits a string. It is for a session that may.
type editForm struct {
	Action   string // where it is sent: the page's own address
	Token    string // the session's form token
	Seen     string // the revision of the text that the reader sees
	Fields   []field
	Fuzzy    bool
	Suggests bool   // the reader may suggest a text
	Edits    bool   // and store one, and answer suggestions
	Previous string // the checksum of the string whose text was copied into the fields; ""
	Sent     bool   // the fields have what was sent, not what is stored

	Wrong  string // why it was not stored, in the reader's language
	Detail string // the same of the program that would refuse it, in English
	Asks   []*checks.Check
	Asked  string // names of the checks of Asks, which the reader is asked about
	Do     string // what is done if the reader agrees
	Theirs *change
	Status int // of the answer
}

// field is a plural form of the text.
type field struct {
	Label, Text string
	Rows        int
}

type sentForm struct {
	do, copy, seen, asked, previous, why string
	sure                                 bool
	look                                 bool // it is still written: what would saving say?
	target                               []string
	fuzzy                                bool
}

// Edited is the answer to a form: an address to go to, or a page.
type Edited struct {
	Next   string
	Status int
	Page   []byte
}

// readForm reads the fields. Browsers end lines with CR LF, files with LF.
func readForm(f url.Values) sentForm {
	s := sentForm{do: f.Get("do"), copy: f.Get("copy"), seen: f.Get("seen"), asked: f.Get("asked"), previous: f.Get("previous"), fuzzy: f.Get("fuzzy") != ""}
	s.do, s.sure = strings.CutPrefix(s.do, "sure:")
	if s.look = s.do == "look"; s.look {
		s.do = "save"
	}
	_, id, _ := strings.Cut(s.do, ":")
	s.why = resource.WhyOf(f.Get("why" + id))
	for _, text := range f["target"] {
		s.target = append(s.target, strings.ReplaceAll(text, "\r\n", "\n"))
	}
	return s
}

// matchEnds gives texts the line feeds that the source begins and ends with, as Weblate does: msgfmt
// refuses them without, and nobody sees them in a field.
func (s *sentForm) matchEnds(source string) {
	sources := catalog.SplitForms(source)
	for i, text := range s.target {
		of := sources[min(i, len(sources)-1)]
		if text = strings.Trim(text, "\n"); text != "" && strings.Trim(of, "\n") != "" {
			head, tail := len(of)-len(strings.TrimLeft(of, "\n")), len(of)-len(strings.TrimRight(of, "\n"))
			s.target[i] = of[:head] + text + of[len(of)-tail:]
		}
	}
}

// revision tells the texts and states of a string apart.
func revision(u *catalog.Unit) string {
	var h catalog.Hasher
	return fmt.Sprintf("%x", h.Text(catalog.TrimForms(u.Target), u.State))
}

// fillForm makes the form of a string for whoever may edit it, or says who may.
func (p *Pages) fillForm(ctx context.Context, _ *store.Snapshot, _ *rest.Request, v *view, o *oneString) error {
	t, a := &o.Row, rest.AccessOf(ctx)
	if t.IsSource || o.Unit.Removed || o.Unit.State == catalog.StateReadOnly || !t.Component.Settings.Edits.Taken() || p.env.Edits == nil {
		return nil
	}
	edits, suggests := resource.MayEdit(ctx, t) == nil, resource.MaySuggest(ctx, t) == nil
	switch {
	case a.Session == "":
		o.Stranger = true
		return nil
	case !edits && !suggests:
		o.Why = v.L.T("Your token does not permit you to edit this translation.")
		return nil
	case t.Component.Locked:
		o.Why = v.L.T("The component is locked: it takes no edits for now.")
	}
	forms := catalog.TargetForms(o.Unit.Source, o.Unit.Target, t.PluralNumber)
	if _, err := edit.NewText(forms, cmp.Or(o.Unit.State, catalog.StateTranslated), len(forms)); err != nil && o.Unit.State != catalog.StateEmpty {
		o.Why = v.L.T("A form cannot keep this text: edit it in its file.") // such as a carriage return
		return nil
	}
	o.Form = &editForm{
		Action: o.urlOf(&o.Unit, o.Position), Token: session.FormToken(a.Session), Seen: revision(&o.Unit),
		Fuzzy: o.Unit.State.Fuzzy(), Suggests: suggests, Edits: edits, Status: http.StatusOK,
	}
	o.Form.Fields = fields(v, t, forms)
	return nil
}

func fields(v *view, t *store.TranslationRow, texts []string) []field {
	list := make([]field, len(texts))
	formula, err := plural.Compile(t.PluralFormula)
	for i, text := range texts {
		list[i] = field{Label: v.L.T("Translation"), Text: text, Rows: min(max(utf8.RuneCountInString(text)/50, strings.Count(text, "\n"))+2, 16)}
		switch {
		case len(texts) == 1:
		case err != nil:
			list[i].Label = v.L.T("Form %s", v.L.Number(int64(i)))
		default:
			list[i].Label = v.L.T("For %s", examples(v, formula, i))
		}
	}
	return list
}

// examples are numbers for which a formula chooses a form.
func examples(v *view, formula *plural.Formula, form int) string {
	const most = 5
	var list []string
	for n := range 1000 {
		if formula.Eval(n) != form {
			continue
		}
		if len(list) == most {
			list = append(list, "…")
			break
		}
		list = append(list, v.L.Number(int64(n)))
	}
	return cmp.Or(strings.Join(list, ", "), "–")
}

// Edit answers the form of a string, whose sender was checked. An error is the answer to
// whoever may not edit it.
func (p *Pages) Edit(ctx context.Context, r *rest.Request) (*Edited, error) {
	sent := readForm(r.HTTP.PostForm)
	v, o, err := p.readString(ctx, r, &sent)
	if err != nil {
		return nil, err
	}
	done, err := p.perform(ctx, v, o, &sent)
	switch {
	case err != nil:
		if v, o, err = p.refused(ctx, r, &sent, err); err != nil {
			return nil, err
		}
	case done:
		next, err := p.after(ctx, r, o)
		return &Edited{Next: next, Status: http.StatusSeeOther}, err
	}
	if sent.look { // which found something to say
		o.Form.Status = http.StatusOK
	}
	body, err := p.execute(cmp.Or(v.Template, "strings"), v)
	return &Edited{Status: o.Form.Status, Page: body}, err
}

// readString reads the page of the string of a form, with what was sent in its fields.
func (p *Pages) readString(ctx context.Context, r *rest.Request, sent *sentForm) (*view, *oneString, error) {
	v := p.newView(r.HTTP, r.Params)
	if sent.look {
		v.Template = "live"
	}
	err := p.env.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		return of(p.env.VisibleTranslation, p.aboutTranslation, p.strings)(ctx, snap, r, v)
	})
	if err != nil {
		return nil, nil, err
	}
	o, ok := v.Body.(*oneString)
	switch {
	case !ok || o.Unit.Removed:
		return nil, nil, &rest.Problem{Status: http.StatusConflict, Detail: "The string is not in this translation any more. Your text is not stored: " + strings.Join(sent.target, " · ")}
	case o.Form == nil:
		return nil, nil, cmp.Or(resource.MayEdit(ctx, &o.Row), error(errNotHere))
	}
	o.Form.Sent, o.Form.Seen, o.Form.Previous = true, cmp.Or(sent.seen, o.Form.Seen), sent.previous
	if len(sent.target) == len(o.Form.Fields) {
		o.Form.Fields, o.Form.Fuzzy = fields(v, &o.Row, sent.target), sent.fuzzy
	}
	return v, o, nil
}

// errNotHere is the answer to a form for a string that has none.
var errNotHere = &rest.Problem{Status: http.StatusForbidden, Detail: "This string cannot be edited here."}

// perform does what the reader asks for; done says that the string is finished.
func (p *Pages) perform(ctx context.Context, v *view, o *oneString, sent *sentForm) (done bool, err error) {
	if sent.copy != "" {
		if text, ok := o.textOf(sent.copy); ok {
			o.Form.Fields = fields(v, &o.Row, text)
			o.copied(sent.copy)
		}
		return false, nil
	}
	do, number, _ := strings.Cut(sent.do, ":")
	c, unit := o.Row.Component.ID, &o.Unit
	id, _ := strconv.ParseInt(number, 10, 64)
	answer := edit.Answer{ID: id, UnitID: unit.ID, Why: sent.why}
	sent.matchEnds(unit.Source)
	want := edit.Request{UnitID: unit.ID, Target: sent.target, State: sent.state()}
	if o.Lacks {
		want.UnitID, want.SourceID, want.Previous = 0, o.id, o.previous(sent)
	}
	if sent.look {
		_, err = p.judge(ctx, v, o, sent, sent.target, sent.state())
		return false, err
	}
	if do != "suggest" && do != "" && !o.Form.Edits {
		return false, cmp.Or(resource.MayEdit(ctx, &o.Row), error(errNotHere))
	}
	switch do {
	case "save":
		if !o.Lacks { // what somebody else made of one is refused in any case
			want.If = func(now *catalog.Unit) bool {
				return revision(now) == sent.seen || now.State == want.State && catalog.TrimForms(now.Target) == catalog.TrimForms(catalog.JoinForms(want.Target))
			}
		}
		if ok, err := p.judge(ctx, v, o, sent, want.Target, want.State); !ok || err != nil {
			return false, err
		}
		err = p.env.Edit(ctx, c, o.Row.ID, resource.AuthorOf(ctx), want)
		return true, err
	case "suggest":
		if !o.Form.Suggests {
			return false, errNotHere
		}
		want.State = catalog.StateTranslated
		_, err = p.env.Suggest(ctx, c, o.Row.ID, resource.SuggesterOf(ctx, &o.Row), want)
		return true, err
	case "accept":
		i := slices.IndexFunc(o.Suggestions, func(s store.Suggestion) bool { return s.EditID == id })
		if id == 0 || i < 0 {
			return false, catalog.ErrNotFound
		}
		if ok, err := p.judge(ctx, v, o, sent, catalog.TargetForms(unit.Source, o.Suggestions[i].Target, o.Row.PluralNumber), catalog.StateTranslated); !ok || err != nil {
			return false, err
		}
		answer.Accept = true
		return true, p.env.AnswerSuggestion(ctx, c, o.Row.ID, answer)
	case "reject":
		if err := p.env.AnswerSuggestion(ctx, c, o.Row.ID, answer); err != nil {
			return false, err
		}
		o.Suggestions = slices.DeleteFunc(o.Suggestions, func(s store.Suggestion) bool { return s.EditID == id })
	}
	return false, nil
}

func (s *sentForm) state() catalog.State {
	switch {
	case catalog.EmptyForms(catalog.JoinForms(s.target)):
		return catalog.StateEmpty
	case s.fuzzy:
		return catalog.StateFuzzy
	}
	return catalog.StateTranslated
}

// textOf is a text that the page shows, for the fields: of the source, of the
// repository, or of a suggestion or another component by its place in the list.
func (o *oneString) textOf(name string) ([]string, bool) {
	sources := catalog.SplitForms(o.Unit.Source)
	list := make([]string, len(o.Form.Fields))
	for i := range list {
		list[i] = sources[min(i, len(sources)-1)]
	}
	i, err := strconv.Atoi(name[1:])
	at := func(kind string, n int) bool { return name[:1] == kind && err == nil && i >= 0 && i < n }
	target := o.Unit.Target
	switch {
	case name == "source":
		return list, true
	case name == "stored":
	case at("s", len(o.Suggestions)):
		target = o.Suggestions[i].Target
	case at("e", len(o.Elsewhere)):
		target = o.Elsewhere[i].Target
	case at("m", len(o.Memory)):
		target = o.Memory[i].Target
	default:
		if of := o.offerOf(name); of != nil {
			return of.texts(len(list)), true
		}
		return nil, false
	}
	return catalog.TargetForms(o.Unit.Source, target, o.Row.PluralNumber), true
}

// judge reports whether a text may be stored: errors stop it, and the reader is asked
// about checks that it fails. A text that needs editing may fail them.
func (p *Pages) judge(ctx context.Context, v *view, o *oneString, sent *sentForm, target []string, state catalog.State) (ok bool, err error) {
	f := o.Form
	text, err := edit.NewText(target, state, len(f.Fields))
	if err != nil || state != catalog.StateTranslated {
		return err == nil, err
	}
	var failing checks.Mask
	var refused error
	err = p.env.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		failing, refused, err = p.look(ctx, snap, &o.Row, o.Unit, text)
		return err
	})
	if refused != nil {
		f.Status = http.StatusBadRequest
		f.Wrong, f.Detail = toldRefusal(v, fields(v, &o.Row, target), refused)
		return false, nil
	}
	if err == nil {
		f.ask(failing, sent)
	}
	return len(f.Asks) == 0, err
}

// refusals are what catalog/edit and catalog/editing say of a text, and what readers are told.
var refusals = []struct {
	said *regexp.Regexp
	told string
}{
	{regexp.MustCompile(`^uses the flag L`), intl.Text("It uses the flag L or a number of two digits, which the source does not.")},
	{regexp.MustCompile(`^uses (.+), which the msgid does not$`), intl.Text("It uses %s, which the source does not.")},
	{regexp.MustCompile(`^uses (?:argument )?(.+) as another type than the msgid$`), intl.Text("Its placeholder %s is of another kind than in the source.")},
	{regexp.MustCompile(`^does not use (.+)$`), intl.Text("It does not use %s.")},
	{regexp.MustCompile(`^uses (\d+) arguments, the msgid (\d+)$`), intl.Text("Placeholders: %[1]s here, %[2]s in the source.")},
	{regexp.MustCompile(`^mixes numbered or named arguments with others$`), intl.Text("It mixes numbered or named placeholders with others.")},
	{regexp.MustCompile(`^has an invalid format directive$`), intl.Text("It has a placeholder that is none.")},
	{regexp.MustCompile(`^The first plural form is empty`), intl.Text("The first field is empty.")},
	{regexp.MustCompile(`^Control characters .* found (.+)$`), intl.Text("It has the control character %s.")},
	{regexp.MustCompile(`^Translation text too long, at most (\d+)`), intl.Text("It is longer than %s bytes.")},
	{regexp.MustCompile(`^The string has this text`), intl.Text("The string has this text.")},
	{regexp.MustCompile(`^The string has \d+ suggestions`), intl.Text("Too many suggestions wait for this string.")},
}

// toldRefusal says that a text is refused, and why; what has no words of the reader's is the detail.
func toldRefusal(v *view, texts []field, refused error) (told, detail string) {
	told, detail = v.L.T("The program could not use this text. Mend it, or mark it as needing editing:"), refused.Error()
	if invalid, ok := errors.AsType[*edit.InvalidError](refused); ok {
		told, detail = v.L.T("This text cannot be stored:"), invalid.Message
	}
	if words := inWords(v, texts, refused.Error()); words != "" {
		return told + " " + words, ""
	}
	return told, detail
}

// inWords says why a text is refused in the reader's words, with the field that it is about; ""
// without such words.
func inWords(v *view, texts []field, refused string) string {
	form, said, _ := strings.Cut(refused, ": ")
	var i int
	var label string
	if _, err := fmt.Sscanf(form, "msgstr[%d]", &i); err == nil && i < len(texts) {
		if label = texts[i].Label + ": "; texts[i].Text == "" {
			return label + v.L.T("It is empty.")
		}
	}
	for _, r := range refusals {
		if m := r.said.FindStringSubmatch(said); m != nil {
			args := make([]any, len(m)-1)
			for i := range args {
				args[i] = m[i+1]
			}
			return label + v.L.T(r.told, args...)
		}
	}
	return ""
}

// ask fills Asks unless the reader was asked about the same checks and is sure.
func (f *editForm) ask(failing checks.Mask, sent *sentForm) {
	asked := strings.Split(sent.asked, ",")
	var names []string
	for c := range failing.Checks() {
		names = append(names, c.Name)
		if !sent.sure || !slices.Contains(asked, c.Name) {
			f.Status = http.StatusConflict
		}
		f.Asks = append(f.Asks, c)
	}
	if f.Status == http.StatusOK { // the reader was asked about all of them
		f.Asks = nil
		return
	}
	f.Asked, f.Do = strings.Join(names, ","), "sure:"+sent.do
}

// refused reads the page anew and says on it why the store refused an edit.
func (p *Pages) refused(ctx context.Context, r *rest.Request, sent *sentForm, refusal error) (*view, *oneString, error) {
	v, o, err := p.readString(ctx, r, sent)
	if err != nil {
		return nil, nil, err
	}
	problem := rest.AsProblem(resource.EditProblem(refusal))
	if problem == rest.ErrInternal {
		return nil, nil, refusal
	}
	f, invalid := o.Form, (*edit.InvalidError)(nil)
	f.Status = problem.Status
	switch {
	case errors.Is(refusal, edit.ErrChanged):
		f.Status, f.Wrong, f.Theirs = http.StatusConflict, v.L.T("Somebody changed this string meanwhile. Your text is not stored yet: save it again if it is better."), new(change)
		if len(v.Changes) > 0 {
			*f.Theirs = v.Changes[0]
		}
		f.Seen = revision(&o.Unit)
		f.Theirs.Diff = difference(catalog.JoinForms(sent.target), o.Unit.Target)
	case errors.Is(refusal, edit.ErrLocked):
		f.Wrong = v.L.T("The component is locked: it takes no edits for now.")
	case errors.As(refusal, &invalid):
		f.Wrong, f.Detail = toldRefusal(v, f.Fields, invalid)
	default:
		f.Wrong, f.Detail = v.L.T("This was not done:"), problem.Detail
	}
	return v, o, nil
}

// after is where a reader goes on when a string is done: to the next one of the same
// search, whose place changes if the search does not find this one any more; without
// one to the list; without a search to the string itself.
func (p *Pages) after(ctx context.Context, r *rest.Request, o *oneString) (string, error) {
	saved := "saved=" + o.Checksum
	if o.Position == 0 {
		return stringURL(&o.Row, &o.Unit, o.Query, 0) + "&" + saved, nil
	}
	if o.next == nil {
		list := url.Values{"saved": {o.Checksum}}
		if o.Query != "" {
			list.Set("q", o.Query)
		}
		return path("translate", o.Row.Project.Slug, o.Row.Component.Slug, o.Row.Language) + "?" + list.Encode(), nil
	}
	at := o.Position + 1
	err := p.env.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		units, err := findAll(ctx, snap, r, &o.Row, p.takesMissing(&o.Row), func(int64, int64) (int, int) { return o.Position - 1, 2 })
		if i := slices.IndexFunc(units, func(u catalog.Unit) bool { return u.ID == o.next.ID }); i >= 0 {
			at = o.Position + i
			o.Gone += 1 - i // at the place of this one: it left the search
		}
		_, err = wrongQuery(err)
		return err
	})
	return o.urlOf(o.next, at) + "&" + saved, err
}
