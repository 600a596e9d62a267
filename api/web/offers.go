package web

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// Texts for a string that a file lacks: the file has them for others, or had them.

// offer is the text of a similar string that the template has no more.
type offer struct {
	edit.Offer
	Diff []span // of the sources
}

// checksum is what a form knows an offer by.
func (o *offer) checksum() string {
	var h catalog.Hasher
	return catalog.Checksum(h.Identity(o.Source, o.Context).Hash)
}

// texts are the forms of the text for a string with a number of forms: those of msgmerge,
// which takes the first one for all if it was no plural.
func (o *offer) texts(forms int) []string {
	list := catalog.SplitForms(o.Target)
	if !strings.Contains(o.Source, catalog.FormSeparator) {
		list = slices.Repeat(list[:1], forms)
	}
	return append(list[:min(len(list), forms)], make([]string, max(0, forms-len(list)))...)
}

// fillOffers finds texts for a string that the file lacks. That of its obsolete entry is a
// suggestion.
func (p *Pages) fillOffers(ctx context.Context, snap *store.Snapshot, _ *rest.Request, _ *view, o *oneString) error {
	if !o.Lacks {
		return nil
	}
	gone, err := snap.Extra(ctx, o.Row.ComponentID, o.Row.ID, maxLooked)
	if err != nil {
		return err
	}
	file, err := snap.File(ctx, o.Row.ID)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return err
	}
	own, similar := edit.Offers(file.Data, &o.Unit, gone, maxOffers)
	if own.Target != "" {
		o.Suggestions = append([]store.Suggestion{{Branch: "#~ " + o.Row.Filename, Target: own.Target}}, o.Suggestions...)
		o.fuzzyOwn = own.State.Fuzzy()
	}
	for _, of := range similar {
		o.Offers = append(o.Offers, offer{of, difference(of.Source, o.Unit.Source)})
	}
	return nil
}

// remembered is a text of a similar source, of any string that the reader may see.
type remembered struct {
	store.Remembered
	Diff       []span // of the sources
	Where, URL string
}

// Similar is the similarity of the sources in permille, rounded down: 100 % is the same.
func (m remembered) Similar() int64 { return int64(1000 * m.Similarity) }

// cheapMemory is the price of a look into the memory beside a string: that of a search which
// waits for no other. shortMemory is its time.
const (
	cheapMemory = 5_000_000
	shortMemory = 3 * time.Second
)

// fillMemory finds texts of similar sources for whoever edits the string, but for those that the
// page shows already. A memory that is too large to be read here is asked through the API.
func (p *Pages) fillMemory(ctx context.Context, snap *store.Snapshot, _ *rest.Request, _ *view, o *oneString) error {
	first := catalog.FirstForm(o.Unit.Source)
	if o.Form == nil || utf8.RuneCountInString(first) > resource.MaxRemembered {
		return nil
	}
	q := store.MemoryQuery{SourceLanguage: o.Row.Component.Settings.SourceLanguage, Language: o.Row.Language, Strings: []string{first}}
	inTime, cancel := context.WithTimeout(store.WithSearchPrice(ctx, cheapMemory), shortMemory)
	defer cancel()
	found, err := resource.Remembered(inTime, snap, q)
	problem, price := (*rest.Problem)(nil), (*store.ErrPrice)(nil)
	if err != nil && inTime.Err() == nil && !errors.As(err, &problem) && !errors.As(err, &price) {
		return err
	}
	for _, m := range slices.Concat(found...) {
		shown := m.Source == o.Unit.Source && (m.Target == o.Unit.Target || slices.ContainsFunc(o.Elsewhere, func(s said) bool { return s.Target == m.Target }))
		if !shown {
			var h catalog.Hasher
			url := path("translate", m.Component.Project.Slug, m.Component.Slug, o.Row.Language) + "?checksum=" + catalog.Checksum(h.Identity(m.Source, m.Context).Hash)
			o.Memory = append(o.Memory, remembered{m, difference(m.Source, o.Unit.Source), where(m.Component), url})
		}
	}
	return nil
}

// Key is the key for the i-th of texts that follow so many others with keys.
func (o *oneString) Key(i int, before ...int) string {
	for _, n := range before {
		i += n
	}
	if i >= 9 {
		return ""
	}
	return "Alt+" + strconv.Itoa(i+1)
}

// offerOf is the offer that a button copies into the form; nil if it copies another text.
func (o *oneString) offerOf(name string) *offer {
	number, ok := strings.CutPrefix(name, "p")
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i < 0 || i >= len(o.Offers) {
		return nil
	}
	return &o.Offers[i]
}

// copied marks the text of an offer in the fields as needing editing, and notes whose it was; so
// it does with that of the string's own obsolete entry, the first suggestion, if it was fuzzy.
func (o *oneString) copied(name string) {
	of := o.offerOf(name)
	if o.Form.Previous = ""; of != nil {
		o.Form.Previous = of.checksum()
	}
	if of != nil || o.fuzzyOwn && name == "s0" {
		o.Form.Fuzzy = true
	}
}

// previous is the source that a text was made for which needs editing: that of the offer
// which was copied into the form.
func (o *oneString) previous(sent *sentForm) string {
	i := slices.IndexFunc(o.Offers, func(of offer) bool { return of.checksum() == sent.previous })
	if i < 0 || sent.state() != catalog.StateFuzzy {
		return ""
	}
	return o.Offers[i].Source
}
