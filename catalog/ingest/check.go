package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// checkup runs the quality checks of one step, inside its transaction and after
// everything else of it: the strings that the step changed are checked, then
// those elsewhere in the project that they are compared with, then the source
// strings of all of these. A translation that was never checked, or with other
// rules, is checked as a whole.
type checkup struct {
	tx       *store.StepTx
	hasher   catalog.Hasher
	written  map[int64][]int64                     // units that the step changed, by translation
	whole    map[int64]bool                        // translations all of whose strings are being checked
	done     map[int64]bool                        // translations that were checked as a whole
	turned   map[int64]bool                        // translations that were compared by other rules before
	outside  map[int64]struct{}                    // units whose neighbours changed
	sources  map[int64]struct{}                    // source units whose translations' failures changed
	peers    map[peerKey]peers                     // loaded so far
	shared   map[[2]int64]sharing                  // by component and component of a peer
	texts    map[int64]map[int64]store.SourceText  // of the source strings of components
	glossary map[store.GlossaryQuery][]checks.Term // loaded so far
	coined   map[peerKey]struct{}                  // languages of which a glossary changed
	behind   map[int64]*recounted                  // by component
	diff     failureDiff                           // nil if the report of new failures is not needed
}

// peerKey names the translations of a project in one language.
type peerKey struct {
	project  int64
	language string
}

type (
	peers   []store.Peer
	sharing map[int64]struct{} // id_hashes that two components have
)

// rulesOf is what is stored of a translation as Checked: letters for what
// concerns it, the source language, and a hash of what its checks depend on. A
// component of a glossary is not checked.
func rulesOf(c *component, t *catalog.Translation) string {
	s := &c.row.Settings
	var h catalog.Hasher
	key := h.Meta(fmt.Sprint(checks.Version, t.PluralNumber, t.IsSource), t.PluralFormula, t.Language, s.CheckFlags, s.Name, c.row.Project.Settings.Name)
	letters := ""
	if s.AllowTranslationPropagation && !s.IsGlossary {
		letters += string(compared)
		if s.Private(&c.row.Project) {
			letters += string(secret)
		}
	}
	for letter, id := range map[rune]checks.ID{ofInconsistent: checks.Inconsistent, ofReused: checks.Reused, ofMultiple: checks.MultipleFailures, ofLong: checks.LongUntranslated} {
		if !s.IsGlossary && !ignores(s.CheckFlags, id) {
			letters += string(letter)
		}
	}
	sorted := []rune(letters)
	slices.Sort(sorted)
	return fmt.Sprintf("%s:%s:%x", string(sorted), c.selection.source.Code, uint64(key))
}

// The letters of Checked.
const (
	compared       = 'c' // its strings and those of others are compared
	secret         = 'p' // with those of private components alone: nobody else's checks tell of them
	ofInconsistent = 'i'
	ofReused       = 'r'
	ofMultiple     = 'm'
	ofLong         = 'l'
)

// concerned reports whether a translation's rules have a letter.
func concerned(rules string, letter rune) bool {
	letters, _, _ := strings.Cut(rules, ":")
	return strings.ContainsRune(letters, letter)
}

// sourceOf is the source language in a translation's rules.
func sourceOf(rules string) string {
	_, rest, _ := strings.Cut(rules, ":")
	source, _, _ := strings.Cut(rest, ":")
	return source
}

// ignores reports whether flags switch a check off.
func ignores(flags string, id checks.ID) bool {
	if !strings.Contains(flags, "ignore-") {
		return false
	}
	name := "ignore-" + strings.ReplaceAll(id.String(), "_", "-")
	for flag := range strings.SplitSeq(flags, ",") {
		if flag = strings.TrimSpace(flag); flag == name || flag == "ignore-all-checks" {
			return true
		}
	}
	return false
}

// echo is what strings with one target are found by; 0 where reused, the check
// that asks, cannot fail.
func echo(h *catalog.Hasher, c *component, t *catalog.Translation, target string) int64 {
	if t.IsSource || t.PluralNumber < 2 || catalog.EmptyForms(target) {
		return 0
	}
	return h.Target(c.row.ProjectID, t.Language, target)
}

func newCheckup(tx *store.StepTx) *checkup {
	return &checkup{
		tx: tx, outside: map[int64]struct{}{}, sources: map[int64]struct{}{}, peers: map[peerKey]peers{}, shared: map[[2]int64]sharing{},
		whole: map[int64]bool{}, done: map[int64]bool{}, turned: map[int64]bool{}, texts: map[int64]map[int64]store.SourceText{},
		glossary: map[store.GlossaryQuery][]checks.Term{}, coined: map[peerKey]struct{}{}, behind: map[int64]*recounted{},
	}
}

// fresh checks a translation that is new, while its units are in memory; b was
// begun before they were stored.
func (k *checkup) fresh(ctx context.Context, w *unitWriter, b *begun) error {
	c, t := w.a.comp, w.row
	sources, err := w.a.sourceIDs(ctx)
	if err != nil {
		return err
	}
	all := make([]store.CheckUnit, len(w.units))
	units := make([]*store.CheckUnit, len(w.units))
	for i := range w.units {
		all[i] = store.CheckUnit{Unit: w.units[i].Unit, TargetHash: w.echo(w.units[i].Target)}
		all[i].ID, all[i].TranslationID, all[i].SourceID = w.ids[i], t.ID, sources[w.units[i].Identity]
		units[i] = &all[i]
	}
	k.done[t.ID] = true
	return k.all(ctx, c, t, units, rulesOf(c, t), b.wait())
}

// run runs the checks of a step that touched components of a convoy.
func (k *checkup) run(ctx context.Context, comps []*component) error {
	written, echoes := k.tx.Written()
	k.written = written
	for _, c := range comps {
		if err := k.component(ctx, c); err != nil {
			return &componentError{c, fmt.Errorf("check: %w", err)}
		}
	}
	if err := k.followTerms(ctx, comps); err != nil {
		return fmt.Errorf("check the use of glossaries: %w", err)
	}
	if err := k.tx.UnitsByTargetHash(ctx, slices.Sorted(maps.Keys(echoes)), func(u *store.CheckUnit) error {
		k.outside[u.ID] = struct{}{}
		return nil
	}); err != nil {
		return err
	}
	if err := k.neighbours(ctx); err != nil {
		return fmt.Errorf("check strings of one project: %w", err)
	}
	for _, c := range comps {
		if err := k.sourceStrings(ctx, c); err != nil {
			return &componentError{c, fmt.Errorf("check: %w", err)}
		}
	}
	if err := k.age(ctx, comps); err != nil {
		return err
	}
	return k.multiple(ctx)
}

// component checks the target strings of a component, and forgets those of
// translations that are gone.
func (k *checkup) component(ctx context.Context, c *component) error {
	rows, err := k.tx.Translations(ctx, c.row.ID)
	if err != nil {
		return err
	}
	for i := range rows {
		t := &rows[i]
		rules := rulesOf(c, t)
		k.changedTerms(c, t, rules)
		switch {
		case t.Removed && (t.Checked != "" || t.Stats.Failing.Units > 0): // Checked is empty behind a change of settings
			err = k.leave(ctx, c, t)
		case t.Removed || t.IsSource || k.done[t.ID]:
		case t.Checked != rules:
			err = k.wholly(ctx, c, t, rules)
		case len(k.written[t.ID]) > 0:
			err = k.part(ctx, c, t)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.Language, err)
		}
	}
	return nil
}

// leave takes a translation whose file is gone from those that others are
// compared with.
func (k *checkup) leave(ctx context.Context, c *component, t *catalog.Translation) error {
	units, err := k.targetsOf(ctx, c, t)
	if err != nil {
		return err
	}
	for _, u := range units {
		if u.Failing != [2]uint64{} {
			k.sources[u.SourceID] = struct{}{}
		}
	}
	k.recounted(c.row.ID).whole = true
	if err := k.tx.ClearFailing(ctx, t.ID); err != nil {
		return err
	}
	if t.IsSource || !concerned(t.Checked, compared) {
		return nil
	}
	k.peers = map[peerKey]peers{}
	here := store.Peer{ID: t.ID, ComponentID: c.row.ID, Language: t.Language, PluralNumber: t.PluralNumber, PluralFormula: t.PluralFormula, Checked: t.Checked}
	return k.across(ctx, c.row.ProjectID, &here, units, make([]checks.Mask, len(units)), true)
}

// wholly checks all strings of a translation.
func (k *checkup) wholly(ctx context.Context, c *component, t *catalog.Translation, rules string) error {
	units, err := k.targetsOf(ctx, c, t)
	if err != nil {
		return err
	}
	for _, u := range units { // of a database of an older version, or of another language
		if want := echo(&k.hasher, c, t, u.Target); u.TargetHash != want {
			if err := k.tx.SetTargetHash(ctx, u, want); err != nil {
				return err
			}
		}
	}
	if err := k.removed(ctx, c, t); err != nil {
		return err
	}
	k.turned[t.ID] = concerned(t.Checked, compared)
	return k.all(ctx, c, t, units, rules, nil)
}

// removed forgets the failures of units that the step removed from a translation,
// and has their neighbours looked at.
func (k *checkup) removed(ctx context.Context, c *component, t *catalog.Translation) error {
	if t.Stats.Failing.Units == 0 && !concerned(t.Checked, compared) {
		return nil // never checked
	}
	var gone []*store.CheckUnit
	if err := k.tx.UnitsByID(ctx, unique(k.written[t.ID]), func(u *store.CheckUnit) error {
		if u.Removed {
			gone = append(gone, u)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, u := range gone {
		if err := k.put(ctx, u, checks.Mask{}); err != nil {
			return err
		}
	}
	if len(gone) == 0 || !concerned(t.Checked, compared) {
		return nil
	}
	here := peerOf(t)
	return k.across(ctx, c.row.ProjectID, &here, gone, make([]checks.Mask, len(gone)), true)
}

// targetsOf reads the live units of a translation.
func (k *checkup) targetsOf(ctx context.Context, c *component, t *catalog.Translation) ([]*store.CheckUnit, error) {
	texts, ok := k.texts[c.row.ID]
	if !ok {
		source, err := k.tx.SourceTranslation(ctx, c.row.ID)
		if err != nil {
			return nil, err
		}
		if texts, err = k.tx.SourceTexts(ctx, source); err != nil {
			return nil, err
		}
		k.texts[c.row.ID] = texts
	}
	return k.tx.TargetsOf(ctx, t.ID, texts)
}

// all checks all strings of a translation, and makes it one that others are
// compared with. masks are nil, or what targets would find in single units.
func (k *checkup) all(ctx context.Context, c *component, t *catalog.Translation, units []*store.CheckUnit, rules string, masks []checks.Mask) error {
	k.recounted(c.row.ID).whole = true
	if err := k.tx.SetChecked(ctx, t.ID, rules); err != nil {
		return err
	}
	checkedNow := *t
	checkedNow.Checked = rules
	k.peers = map[peerKey]peers{}
	k.whole[t.ID] = true
	defer delete(k.whole, t.ID)
	if masks == nil {
		return k.targets(ctx, c, &checkedNow, units)
	}
	return k.compare(ctx, c, &checkedNow, units, masks)
}

// part checks the strings of a translation that the step changed.
func (k *checkup) part(ctx context.Context, c *component, t *catalog.Translation) error {
	var units, gone []*store.CheckUnit
	if err := k.tx.UnitsByID(ctx, unique(k.written[t.ID]), func(u *store.CheckUnit) error {
		k.recounted(c.row.ID).note(u.SourceID)
		if u.Removed {
			gone = append(gone, u)
		} else {
			units = append(units, u)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, u := range gone {
		if err := k.put(ctx, u, checks.Mask{}); err != nil {
			return err
		}
	}
	if err := k.targets(ctx, c, t, units); err != nil || len(gone) == 0 || !concerned(t.Checked, compared) {
		return err
	}
	here := peerOf(t)
	return k.across(ctx, c.row.ProjectID, &here, gone, make([]checks.Mask, len(gone)), true)
}

func unique(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

func peerOf(t *catalog.Translation) store.Peer {
	return store.Peer{
		ID: t.ID, ComponentID: t.ComponentID, Language: t.Language,
		PluralNumber: t.PluralNumber, PluralFormula: t.PluralFormula, IsSource: t.IsSource, Checked: t.Checked,
	}
}

// targets checks target strings.
func (k *checkup) targets(ctx context.Context, c *component, t *catalog.Translation, units []*store.CheckUnit) error {
	terms, err := k.terms(ctx, &c.row.Project, &c.row.Settings, t.Language, asksForTerms(units))
	if err != nil {
		return err
	}
	masks := runAll(checks.ForTranslation(c.selection.table, &c.row.Project, &c.row.Settings, t, terms), t, units)
	return k.compare(ctx, c, t, units, masks)
}

// compare adds to what was found in single units what comparing them finds, and
// stores it.
func (k *checkup) compare(ctx context.Context, c *component, t *catalog.Translation, units []*store.CheckUnit, masks []checks.Mask) error {
	here := peerOf(t)
	if err := k.tx.AddTargetHashes(ctx, units); err != nil {
		return err
	}
	if err := k.across(ctx, c.row.ProjectID, &here, units, masks, true); err != nil {
		return err
	}
	for i, u := range units {
		if err := k.put(ctx, u, masks[i]); err != nil {
			return err
		}
	}
	return nil
}

// put stores what fails, and remembers the source unit if that is news.
func (k *checkup) put(ctx context.Context, u *store.CheckUnit, mask checks.Mask) error {
	if u.Failing == mask {
		return nil
	}
	if u.SourceID != u.ID {
		k.sources[u.SourceID] = struct{}{}
	}
	return k.set(ctx, u, mask)
}

// set stores what fails.
func (k *checkup) set(ctx context.Context, u *store.CheckUnit, mask checks.Mask) error {
	k.diff.note(u, mask)
	return k.tx.SetFailing(ctx, u, mask)
}

// sourceStrings runs the checks of source strings that look at nothing else.
func (k *checkup) sourceStrings(ctx context.Context, c *component) error {
	rows, err := k.tx.Translations(ctx, c.row.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rows, func(t catalog.Translation) bool { return t.IsSource && !t.Removed })
	if i < 0 {
		return nil
	}
	t := &rows[i]
	var units []*store.CheckUnit
	each := func(u *store.CheckUnit) error {
		units = append(units, u)
		return nil
	}
	rules := rulesOf(c, t)
	if t.Checked != rules {
		err = k.tx.UnitsOf(ctx, t.ID, each)
		if err == nil {
			err = k.tx.UnitsByID(ctx, unique(k.written[t.ID]), func(u *store.CheckUnit) error {
				if u.Removed {
					units = append(units, u)
				}
				return nil
			})
		}
		if err == nil {
			err = k.tx.SetChecked(ctx, t.ID, rules)
		}
		k.peers = map[peerKey]peers{}
	} else {
		err = k.tx.UnitsByID(ctx, unique(k.written[t.ID]), each)
	}
	if err != nil {
		return err
	}
	masks := runAll(checks.ForTranslation(c.selection.table, &c.row.Project, &c.row.Settings, t, nil), t, units)
	for i, u := range units {
		mask := masks[i]
		k.recounted(c.row.ID).note(u.ID)
		mask = mask.Or(checks.Mask(u.Failing).And(laterChecks(u.Flags)))
		if u.Removed {
			mask = checks.Mask{}
		}
		if err := k.set(ctx, u, mask); err != nil {
			return err
		}
		k.sources[u.ID] = struct{}{}
	}
	return nil
}

// multiple decides which of the source strings whose translations were checked
// have several failing checks there.
func (k *checkup) multiple(ctx context.Context) error {
	ids := slices.Sorted(maps.Keys(k.sources))
	failures, err := k.tx.FailingOf(ctx, ids)
	if err != nil {
		return err
	}
	rules, err := k.tx.CheckedOf(ctx, ids)
	if err != nil {
		return err
	}
	var units []*store.CheckUnit
	if err := k.tx.UnitsByID(ctx, ids, func(u *store.CheckUnit) error {
		units = append(units, u)
		return nil
	}); err != nil {
		return err
	}
	for _, u := range units {
		mask := checks.Mask(u.Failing).Without(checks.MultipleFailures)
		if !u.Removed && concerned(rules[u.TranslationID], ofMultiple) && !ignores(u.Flags, checks.MultipleFailures) &&
			checks.HasMultipleFailures(failures[u.ID]) {
			mask = mask.With(checks.MultipleFailures)
		}
		if err := k.set(ctx, u, mask); err != nil {
			return err
		}
	}
	return nil
}
