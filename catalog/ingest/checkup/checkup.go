// Package checkup runs the quality checks of what a step of a pull changed, in its
// transaction, and stores which fail.
//
// Goals: the same failures whatever the way to a commit (import, replay, pulls, edits); a step
// reads the units that it changed, and of others those whose results may change.
//
// A step checks what it changed, in its transaction; then strings elsewhere in the project
// whose neighbours changed, and the source strings of all of these. translations.checked says
// with what rules and settings a translation was checked; if that differs, the next pull
// checks all of it. Private components are compared with private ones only, otherwise the
// failure of a public string would tell of them. Age counts from commit to commit, never
// from a clock, so that pulls and replays of the same commits agree.
//
// Non-goals: the rules of single checks (package checks); which components are checked when
// (package ingest).
package checkup

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/compared"
)

// Step runs the quality checks of one step, in its transaction and after
// everything else in it: first on the units that the step changed, then on the
// units elsewhere in the project that they are compared with, then on the source
// strings of all of these. A translation that was never checked, or was checked
// with other rules, is checked as a whole.
//
// Its parts are one file each: translation.go (the units of translations), source.go
// (source strings), compare.go, glossary.go and long_untranslated.go (checks that look at
// other units).
type Step struct {
	// Later leaves the units of translations that were never compared to AddUncompared.
	Later bool
	// Kept gets those of new translations, as long as Room has room for so many of them; then they count as
	// not checked. Nil: none.
	Kept Kept
	Room func(units int) bool

	tx *store.StepTx

	changed     map[int64][]int64                    // units that the step changed, by translation
	checkedNew  map[int64]bool                       // new translations, which were checked while their units were in memory
	sourceTexts map[int64]map[int64]store.SourceText // source strings by component, loaded so far

	failures     failures
	comparison   comparison
	glossaries   glossaries
	untranslated longUntranslated
}

// New makes the checks of a step.
func New(tx *store.StepTx) *Step {
	k := &Step{
		tx:          tx,
		checkedNew:  map[int64]bool{},
		sourceTexts: map[int64]map[int64]store.SourceText{},

		failures:     failures{tx: tx, sources: map[int64]struct{}{}},
		glossaries:   glossaries{tx: tx, terms: map[store.GlossaryQuery][]checks.Term{}, changed: map[languageKey]struct{}{}},
		untranslated: longUntranslated{},
	}
	k.comparison = comparison{tx: tx, failures: &k.failures, scopes: map[scopeKey]*scope{}, byID: map[int64]*scope{}, rules: map[int64]string{}, together: MaxPending}
	return k
}

// Component is a component whose strings are checked.
type Component struct {
	*store.BranchComponent
	// Source is the code of its source language.
	Source string
	// Table is the language table.
	Table *lang.Table
	// Blame makes an error that of the component.
	Blame func(error) error
}

// NewUnits are units of a new translation that were stored, with their ids, parallel.
type NewUnits struct {
	Component   *Component
	Translation *catalog.Translation
	Units       []unit.Unit
	IDs         []int64
}

// languageKey names the translations of a project into one language.
type languageKey struct {
	project  int64
	language string
}

// Run runs the checks of a step that touched components.
func (k *Step) Run(ctx context.Context, comps []*Component) error {
	k.changed = k.tx.Written()
	k.tx.TakeReplaced(func(stored compared.Scope, c compared.Member) { // from the groups that they were in before
		k.comparison.drop(k.comparison.scope(stored), c)
	})
	for _, c := range comps {
		if err := k.component(ctx, c); err != nil {
			return c.Blame(fmt.Errorf("check: %w", err))
		}
	}
	if err := k.checkGlossaryUsers(ctx, comps); err != nil {
		return fmt.Errorf("check the use of glossaries: %w", err)
	}
	if err := k.comparison.flush(ctx); err != nil {
		return fmt.Errorf("check strings of one project: %w", err)
	}
	for _, c := range comps {
		if err := k.sourceStrings(ctx, c); err != nil {
			return c.Blame(fmt.Errorf("check: %w", err))
		}
	}
	if err := k.LongUntranslated(ctx, comps, true); err != nil {
		return err
	}
	return k.multipleFailures(ctx)
}

// failures stores which checks fail, and remembers what that changes.
type failures struct {
	tx      *store.StepTx
	sources map[int64]struct{} // source units that multiple_failures is to be decided for
	diff    failureDiff        // nil if no report has new failures
	waiting []store.Failing    // for store, each unit once
	buffer  []catalog.Unit     // of waiting units that were kept
}

// failingAtATime is for how many units failing checks are stored at a time.
const failingAtATime = 256

// clear stores that no check of units fails.
func (f *failures) clear(ctx context.Context, units []*catalog.Unit) error {
	return f.setAll(ctx, units, func(int) checks.Mask { return checks.Mask{} })
}

// setAll stores which checks of units fail, by index.
func (f *failures) setAll(ctx context.Context, units []*catalog.Unit, mask func(i int) checks.Mask) error {
	for i, u := range units {
		if err := f.set(ctx, u, mask(i)); err != nil {
			return err
		}
	}
	return f.store(ctx)
}

// set has store store which checks of a unit fail. If that of a translation changes, its
// source string is checked for multiple_failures later.
func (f *failures) set(ctx context.Context, u *catalog.Unit, mask checks.Mask) error {
	if u.Failing == mask {
		return nil
	}
	if u.SourceID != u.ID {
		f.sources[u.SourceID] = struct{}{}
	}
	f.diff.note(u, mask)
	if f.waiting = append(f.waiting, store.Failing{Unit: u, Checks: mask}); len(f.waiting) < failingAtATime {
		return nil
	}
	return f.store(ctx)
}

// store stores what waits. It comes before anything that reads failing checks.
func (f *failures) store(ctx context.Context) error {
	err := f.tx.SetFailing(ctx, f.waiting)
	clear(f.waiting)
	f.waiting = f.waiting[:0]
	return err
}

// unique sorts ids in place and returns them without duplicates.
func unique(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// runSize is how many units one goroutine checks at a time.
const runSize = 512

func runAll(set *checks.Set, t *catalog.Translation, units []*catalog.Unit) []checks.Mask {
	masks := make([]checks.Mask, len(units))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < len(units); from += runSize {
		group.Go(func() error {
			for i := from; i < min(from+runSize, len(units)); i++ {
				u := checks.UnitOf(units[i], t)
				masks[i] = set.Run(&u)
			}
			return nil
		})
	}
	_ = group.Wait() // no call returns an error
	return masks
}

// The rules of a translation are stored with it (Translation.Checked): letters
// for the checks across units that run on it, the source language, and a hash
// of everything else that its checks depend on. A translation whose stored
// rules differ from its current ones is checked as a whole.

// The letters of rules.
const (
	ruleCompared     = 'c' // its units are compared with units of other translations
	rulePrivate      = 'p' // only with units of private components, so that public checks reveal nothing of them
	ruleInconsistent = 'i'
	ruleReused       = 'r'
	ruleMultiple     = 'm'
	ruleLong         = 'l'
)

// Rules returns the current rules of a translation. The strings of a glossary
// are not compared.
func Rules(c *Component, t *catalog.Translation) string {
	s := &c.Settings
	var h catalog.Hasher
	key := h.Meta(fmt.Sprint(checks.Version, t.PluralNumber, t.IsSource), t.PluralFormula, t.Language, s.CheckFlags, s.Name, c.Project.Settings.Name)
	letters := ""
	if s.AllowTranslationPropagation && !s.IsGlossary {
		letters += string(ruleCompared)
		if s.Private(&c.Project) {
			letters += string(rulePrivate)
		}
	}
	for letter, id := range map[rune]checks.ID{ruleInconsistent: checks.Inconsistent, ruleReused: checks.Reused, ruleMultiple: checks.MultipleFailures, ruleLong: checks.LongUntranslated} {
		if !s.IsGlossary && !checks.Ignores(s.CheckFlags, id) {
			letters += string(letter)
		}
	}
	sorted := []rune(letters)
	slices.Sort(sorted)
	return fmt.Sprintf("%s:%s:%x", string(sorted), c.Source, uint64(key))
}

func hasRule(rules string, letter rune) bool {
	letters, _, _ := strings.Cut(rules, ":")
	return strings.ContainsRune(letters, letter)
}

func sourceLanguage(rules string) string {
	_, rest, _ := strings.Cut(rules, ":")
	source, _, _ := strings.Cut(rest, ":")
	return source
}

// maxNewFailures is how many new failures a report lists.
const maxNewFailures = 100

// maxFailureSource bounds the text of a string in a report, in characters.
const maxFailureSource = 80

// NewFailures are the quality checks that fail after a pull and did not fail
// before it. Failures in the first import of a component do not count, nor do
// failures that other settings or rules find in unchanged strings.
type NewFailures struct {
	// Total is the number of all new failures, listed or not.
	Total int
	// List has up to 100 of them, ordered by unit and check.
	List []NewFailure
}

// NewFailure is one check of one unit. The unit may be in a component that the
// pull did not touch, if its strings are compared with the pulled ones.
type NewFailure struct {
	// UnitID and ComponentID are the ids in the API.
	UnitID, ComponentID int64
	// Language is the code of the unit's translation.
	Language string
	// Check is the check that fails.
	Check checks.ID
	// Source is the beginning of the unit's source, at most 80 characters.
	Source string
}

// Add adds the failures of a later step.
func (n *NewFailures) Add(later NewFailures) {
	n.Total += later.Total
	n.List = append(n.List, later.List...)
	n.List = n.List[:min(len(n.List), maxNewFailures)]
}

// Report has NewFailures list what fails since the step.
func (k *Step) Report() { k.failures.diff = failureDiff{} }

// NewFailures returns what fails since the step, if Report was called before it ran.
func (k *Step) NewFailures(ctx context.Context) (NewFailures, error) {
	return k.failures.diff.newFailures(ctx, k.tx)
}

// failureDiff has the units whose failing checks a step changed, by id, with
// the checks that failed before the step and the checks that fail after it. A nil
// failureDiff records nothing.
type failureDiff map[int64]*unitFailures

type unitFailures struct {
	translation   int64
	source        string
	before, after checks.Mask
}

func (d failureDiff) note(u *catalog.Unit, now checks.Mask) {
	if d == nil {
		return
	}
	f := d[u.ID]
	if f == nil {
		f = &unitFailures{translation: u.TranslationID, source: u.Source, before: u.Failing}
		d[u.ID] = f
	}
	f.after = now
}

// newFailures lists the checks that fail after the step only. It reads the
// languages of translations from the step's transaction.
func (d failureDiff) newFailures(ctx context.Context, tx *store.StepTx) (n NewFailures, err error) {
	for _, id := range slices.Sorted(maps.Keys(d)) {
		f := d[id]
		for check := range f.after.All() {
			if f.before.Has(check) {
				continue
			}
			if n.Total++; n.Total > maxNewFailures {
				continue
			}
			peer, err := tx.PeerByID(ctx, f.translation)
			if err != nil {
				return NewFailures{}, err
			}
			n.List = append(n.List, NewFailure{
				UnitID: id, ComponentID: peer.ComponentID, Language: peer.Language, Check: check, Source: catalog.Fit(f.source, maxFailureSource),
			})
		}
	}
	return n, nil
}
