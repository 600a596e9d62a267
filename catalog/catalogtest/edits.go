package catalogtest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
)

// NewEditor makes an editor of what a syncer pulls, with another clock.
func (p *Puller) NewEditor(of *ingest.Syncer, now func() time.Time) *editing.Editor {
	o := editing.Options{DB: p.DB, Syncer: of, Languages: p.Languages, Now: now}
	if p.ChangeEditor != nil {
		p.ChangeEditor(&o)
	}
	return editing.New(o)
}

// UnitOf finds a unit by language and source.
func (p *Puller) UnitOf(language, source string) (found catalog.Unit) {
	p.TB.Helper()
	p.EachUnit(func(_ *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		if t.Language == language && u.Source == source {
			found = *u
		}
	})
	if found.ID == 0 {
		p.TB.Fatalf("no unit %q", source)
	}
	return found
}

// Write edits a Czech string, by Jana Nováková.
func (p *Puller) Write(source string, state catalog.State, target ...string) error {
	p.TB.Helper()
	u := p.UnitOf("cs", source)
	by := edit.Author{Name: "Jana Nováková", Email: "jana@example.org"}
	_, err := p.Editor.Edit(p.TB.Context(), u.ID/catalog.UnitsPerComponent, u.TranslationID, by, []edit.Request{{UnitID: u.ID, Target: target, State: state}})
	return err
}

// Journal lists the edits of texts: status, source, base, text, reason.
func (p *Puller) Journal() string {
	p.TB.Helper()
	var b strings.Builder
	p.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		list, count, err := snap.Edits(ctx, store.EditQuery{Components: []int64{c.ID}, Kind: store.EditText, Limit: 100})
		if count != len(list) {
			p.TB.Errorf("%d edits are counted, %d listed", count, len(list))
		}
		for _, e := range list {
			fmt.Fprintf(&b, "%s %s: %q → %q %d by %d %s\n", e.Status, e.Source, e.Base.Target, e.Ours.Target, e.Ours.State, len(e.Authors), e.Reason)
		}
		return err
	})
	return b.String()
}

// RemoveFile wishes for the removal of a file, by Jana.
func (p *Puller) RemoveFile(path string) {
	p.TB.Helper()
	found := false
	p.EachUnit(func(c *catalog.Component, tr *catalog.Translation, _ *catalog.Unit) {
		if tr.Filename == path && !found {
			found = true
			if err := p.Editor.RemoveTranslation(p.TB.Context(), c.ID, tr, edit.Author{Name: "Jana", Email: "jana@example.org"}); err != nil {
				p.TB.Fatal(err)
			}
		}
	})
	if !found {
		p.TB.Fatalf("there is no %s", path)
	}
}
