package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/blocks"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// StepInfo describes a step.
type StepInfo struct {
	// Repo and Branch are as in the configuration (the arguments of Branch).
	Repo, Branch string
	// Components are the ids of the convoy, the components that move together,
	// ascending. They must be active components of the branch with head From.
	Components []int64
	// From is the head before, "" for a first import or a reread. To is the head
	// after. Both are as catalog.Component.At has them.
	From, To string
	// Tracking is the branch that is followed.
	Tracking string
	// At is the time of the pull, and of every entry whose Delta.At is zero. No
	// entry is older than the newest one of its component
	// (docs/compatibility.md#history).
	At time.Time
	// Configured is the largest BranchComponent.Configured of the convoy: if
	// settings changed since, the step fails with ErrConflict. 0 disables the
	// check.
	Configured int64
	// Partial says that the step is a checkpoint of a first import: the heads
	// move, but the components do not count as imported
	// (docs/compatibility.md#first-import).
	Partial bool
	// Reread says that the step reads every file of the convoy's components.
	Reread bool
	// Commit describes To; nil keeps the stored commit, which is not shown for
	// another head.
	Commit *catalog.Commit
	// MaxBytes bounds the bytes of texts and numbers that the step writes: more fail
	// with ErrTooMuch; 0 bounds nothing.
	MaxBytes int64
	// ImportAt is when the first import began. The first step of a component that
	// gives it stores it for BranchComponent.ImportAt; zero is ignored.
	ImportAt time.Time
}

// StepResult describes what a step wrote.
type StepResult struct {
	// Generation is the generation of the step.
	Generation int64
	// FirstChange is the id of its first change entry; 0 without entries.
	FirstChange int64
	// Changes is the number of its entries, whose ids are consecutive.
	Changes int64
	// Bytes is what it wrote, if StepInfo.MaxBytes is set.
	Bytes int64
}

// Step is one transaction: fn writes through tx, then the heads of the convoy move
// from From to To, the entries get their ids, whatever changed gets the next
// generation, and everything becomes visible at once. If fn fails (its error is
// returned), ctx is done or the process dies, nothing is stored. If any component
// of the convoy is not active at From, the error is ErrConflict. A step that
// writes nothing still moves the heads. tx must not be used by two goroutines at
// once, nor after fn returned; fn must not call other methods of db that write. A
// panic in fn rolls back and continues.
func (db *DB) Step(ctx context.Context, info StepInfo, fn func(ctx context.Context, tx *StepTx) error) (StepResult, error) {
	started := db.now()
	var res StepResult
	var tx *StepTx
	err := db.writeLocked(ctx, info.lock, func(s *sqldb.Session) (err error) {
		if info.MaxBytes > 0 {
			s.Budget = &sqldb.Budget{Most: info.MaxBytes}
			defer func() { res.Bytes, s.Budget = s.Budget.Used, nil }()
		}
		if tx, err = db.beginStep(ctx, s, info); err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, tx.restoreCache(ctx)) }()
		if err := fn(ctx, tx); err != nil {
			return sqldb.Reported(err)
		}
		res, err = tx.finish(ctx)
		return err
	})
	err = sqldb.UnwrapReported(db.fail(ctx, "step", err))
	db.observe(started, res, err)
	if err != nil {
		return StepResult{}, err
	}
	for id := range tx.unfilled { // not before FillSearch can see it
		db.searches.filled.Delete(id)
	}
	if !info.Partial { // the end of an import, perhaps
		_ = db.pools.Writer.TryLend(ctx, func(s *sqldb.Session) error { return s.ResizeCache(ctx, sqldb.StepCache) })
	}
	return res, nil
}

func (db *DB) observe(started time.Time, res StepResult, err error) {
	result := "ok"
	switch {
	case errors.Is(err, catalog.ErrConflict):
		result = "conflict"
	case err != nil:
		result = "error"
	default:
		db.metrics.changes.Add(float64(res.Changes))
	}
	db.metrics.steps.WithLabelValues(result).Observe(db.now().Sub(started).Seconds())
}

// StepTx writes a step. Its methods fail with ErrInvalid for components outside
// the convoy.
type StepTx struct {
	db   *DB
	s    *sqldb.Session
	info StepInfo

	convoy       map[int64]*convoyMember
	translations map[int64]int64    // component by translation
	dirty        map[int64]struct{} // translations whose answers change
	codesChanged bool               // a translation came, or got another code: codes must be checked
	authors      []stepAuthor       // in the order in which they were met
	authorOf     map[string]int     // their places, by authorKey
	deltas       []pendingDelta
	entries      *sqldb.Inserter
	conflicts    map[int64]struct{} // units whose edits ended in a conflict
	written      map[int64][]int64  // written units to be checked, by translation
	replaced     []replacedUnit     // groups that written units were in before
	hasher       catalog.Hasher
	failing      map[int64]*failingChange // changes by SetFailing, by translation
	touched      map[int64]struct{}       // blocks of written units
	rechecked    map[int64]struct{}       // blocks of units that fail other checks
	unfilled     map[int64]struct{}       // components of which it leaves columns to FillSearch
	building     *blocks.Builder          // of the units that are added
	addingTo     int64                    // the source translation that units were added to last
	added        int                      // how many
	largeCache   bool                     // see enlargeCache
}

// convoyMember is the row of a component in the convoy.
type convoyMember struct {
	project             int64
	tracking            string
	imported, reread    bool
	lastUnit, lastDelta int64
	lastAt, oldest      sql.NullInt64 // components.oldest
	private             bool          // strangers do not see it
	dirty               bool          // answers about the component, or anything below it, change
	compared            bool          // PutExtra changed how some strings compare with the template
	countersChanged     bool          // lastUnit, lastDelta, lastAt or oldest changed
}

func (db *DB) beginStep(ctx context.Context, s *sqldb.Session, info StepInfo) (*StepTx, error) {
	if err := info.check(); err != nil {
		return nil, err
	}
	if err := s.ResizeCache(ctx, info.cacheSize()); err != nil {
		return nil, err
	}
	tx := &StepTx{
		db: db, s: s, info: info,
		convoy:       make(map[int64]*convoyMember, len(info.Components)),
		translations: map[int64]int64{},
		dirty:        map[int64]struct{}{},
		authorOf:     map[string]int{},
		entries:      sqldb.NewInserter("changes", "delta_id", "n", "action", "unit_id", "state", "old_state", "target", "old_target", "event"),
		failing:      map[int64]*failingChange{},
		conflicts:    map[int64]struct{}{},
		touched:      map[int64]struct{}{},
		rechecked:    map[int64]struct{}{},
		unfilled:     map[int64]struct{}{},
		written:      map[int64][]int64{},
	}
	return tx, tx.loadConvoy(ctx)
}

func (info *StepInfo) check() error {
	switch {
	case len(info.Components) == 0:
		return sqldb.Invalid("step to %s: no components", info.To)
	case info.To == "":
		return sqldb.Invalid("step from %q: no head to move to", info.From)
	case info.At.IsZero():
		return sqldb.Invalid("step to %s: no time", info.To)
	}
	for i, id := range info.Components[1:] {
		if id <= info.Components[i] {
			return sqldb.Invalid("step to %s: components are not ascending", info.To)
		}
	}
	return nil
}

// loadConvoy reads the components, and refuses early what the compare-and-swap at
// the end would refuse.
func (tx *StepTx) loadConvoy(ctx context.Context) error {
	err := tx.s.QueryIn(ctx, `SELECT c.id, c.project_id, c.tracking, c.imported, c.reread, c.last_unit, c.last_delta, c.last_at, c.oldest, c.settings, p.settings`+rows.ComponentFrom+`
			WHERE c.head = $1 AND c.repo = $2 AND c.branch = $3 AND c.active = 1 AND c.id IN $ids`, []any{tx.info.From, tx.info.Repo, tx.info.Branch}, tx.info.Components, func(scan sqldb.Scan) error {
		var id int64
		var m convoyMember
		var settings, of sql.RawBytes
		err := scan(&id, &m.project, &m.tracking, &m.imported, &m.reread, &m.lastUnit, &m.lastDelta, &m.lastAt, &m.oldest, &settings, &of)
		if err == nil {
			m.private, err = rows.Private(tx.s, id, settings, m.project, of)
		}
		tx.convoy[id] = &m
		return err
	})
	if err == nil && len(tx.convoy) != len(tx.info.Components) {
		err = tx.conflict(len(tx.convoy))
	}
	return err
}

func (tx *StepTx) conflict(found int) error {
	return sqldb.Conflict("%d of %d components are at %q: another process moved or reconfigured the rest",
		found, len(tx.info.Components), tx.info.From)
}

func (tx *StepTx) member(component int64) (*convoyMember, error) {
	m, ok := tx.convoy[component]
	if !ok {
		return nil, sqldb.Invalid("component %d is not in the convoy %v", component, tx.info.Components[:min(len(tx.info.Components), 8)]) // of hundreds
	}
	return m, nil
}

// componentOf returns the component of a translation.
func (tx *StepTx) componentOf(ctx context.Context, translation int64) (int64, error) {
	if c, ok := tx.translations[translation]; ok {
		return c, nil
	}
	var c int64
	found, err := tx.s.First(ctx, `SELECT component_id FROM translations WHERE id = $1`, []any{translation}, &c)
	switch {
	case err != nil:
		return 0, err
	case !found:
		return 0, sqldb.NotFound("translation %d", translation)
	}
	if _, err := tx.member(c); err != nil {
		return 0, err
	}
	tx.translations[translation] = c
	return c, nil
}

// markChanged marks a translation, and with it its component, as changed.
func (tx *StepTx) markChanged(ctx context.Context, translation int64) error {
	if _, ok := tx.dirty[translation]; ok {
		return nil
	}
	c, err := tx.componentOf(ctx, translation)
	if err != nil {
		return err
	}
	tx.dirty[translation] = struct{}{}
	tx.convoy[c].dirty = true
	return nil
}

// fail adds the operation to an error.
func (tx *StepTx) fail(ctx context.Context, op string, err error) error {
	return tx.db.fail(ctx, op, err)
}

// cacheSize is how much the session of a step caches: more for an import, which may
// write every page of several tables, than for what a running server pulls.
func (info *StepInfo) cacheSize() int {
	if info.Partial || info.From == "" || info.From == info.To {
		return sqldb.ImportCache
	}
	return sqldb.StepCache
}

func (tx *StepTx) restoreCache(ctx context.Context) error {
	if !tx.largeCache {
		return nil
	}
	return tx.s.ResizeCache(context.WithoutCancel(ctx), tx.info.cacheSize())
}
