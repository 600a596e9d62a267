package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// StepInfo says what a step moves.
type StepInfo struct {
	// Repo and Branch are those of the configuration (Branch's arguments).
	Repo, Branch string
	// Components are the ids of the convoy, ascending: active components of the
	// branch that stand at From.
	Components []int64
	// From is the head before, "" for a first import or a reread; To the head
	// after, 40 hexadecimal digits.
	From, To string
	// Tracking is the branch in use.
	Tracking string
	// At is the time of the pull: that of every entry whose Delta.At is zero.
	// No entry gets a time before the newest one of its component (decision 19).
	At time.Time
	// Configured is the largest BranchComponent.Configured of the convoy: if
	// settings changed since, the step is a conflict. 0 does not check.
	Configured int64
	// Partial says that the step is a checkpoint of a first import: the heads
	// move, but a component that has not been imported is not yet (decision 22).
	Partial bool
	// Reread says that the step reads every file of the convoy's components.
	Reread bool
	// Commit is what people are shown of To; nil leaves what is stored, which is
	// not shown for another commit.
	Commit *catalog.Commit
	// ImportAt is when the first import began. The first step of a component
	// that gives it stores it for BranchComponent.ImportAt; zero stores nothing.
	ImportAt time.Time
}

// StepResult says what a step wrote.
type StepResult struct {
	// Generation is the step's.
	Generation int64
	// FirstChange is the id of its first change entry; 0 if it has none.
	FirstChange int64
	// Changes is the number of its entries; their ids are dense.
	Changes int64
}

// Step is one transaction (DESIGN, invariant 3): fn writes through tx, then the
// heads of the convoy move from From to To, the entries get their ids, what
// changed gets the next generation, and all becomes visible at once. If fn fails
// (its error is returned), ctx is done or the process dies, nothing is. If any
// component of the convoy is not active at From, the error is ErrConflict. A
// step that writes nothing still moves the heads. tx must not be used by two
// goroutines at once, nor after fn returned; fn must not call other methods of
// db that write. A panic in fn rolls back and goes on.
func (db *DB) Step(ctx context.Context, info StepInfo, fn func(ctx context.Context, tx *StepTx) error) (StepResult, error) {
	started := db.now()
	var res StepResult
	err := db.write(ctx, func(s *session) error {
		tx, err := db.beginStep(ctx, s, info)
		if err != nil {
			return err
		}
		if err := fn(ctx, tx); err != nil {
			return reported{err}
		}
		res, err = tx.finish(ctx)
		return err
	})
	err = unwrapReported(db.fail(ctx, "step", err))
	db.observe(started, res, err)
	if err != nil {
		return StepResult{}, err
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
		db.metrics.generation.Set(float64(res.Generation))
	}
	db.metrics.steps.WithLabelValues(result).Observe(db.now().Sub(started).Seconds())
}

// StepTx is the write side of one step. Its methods fail with ErrInvalid for
// components that are not in the convoy.
type StepTx struct {
	db   *DB
	s    *session
	info StepInfo

	convoy          map[int64]*convoyMember
	translations    map[int64]int64      // translation → component
	dirty           map[int64]struct{}   // translations whose answers changed
	codesChanged    bool                 // a translation was put: codes must be unique
	users           map[string]knownUser // by identity
	deltas          []pendingDelta
	entries         *inserter
	written         map[int64][]int64        // units that were written, by translation, if they are to be checked
	oldTargetHashes map[int64]struct{}       // that units of them had before
	failing         map[int64]*failingChange // what checks changed, by translation
	newFailing      *inserter                // of units without failing checks before; flushed before failing is read
}

// convoyMember is the row of a component within a step.
type convoyMember struct {
	project             int64
	tracking            string
	imported, reread    bool
	lastUnit, lastDelta int64
	lastAt              sql.NullInt64
	dirty               bool // an answer of the component changed, or one below it
	countersChanged     bool // lastUnit, lastDelta or lastAt moved
}

func (db *DB) beginStep(ctx context.Context, s *session, info StepInfo) (*StepTx, error) {
	if err := info.check(); err != nil {
		return nil, err
	}
	tx := &StepTx{
		db: db, s: s, info: info,
		convoy:       make(map[int64]*convoyMember, len(info.Components)),
		translations: map[int64]int64{},
		dirty:        map[int64]struct{}{},
		users:        map[string]knownUser{},
		entries:      newInserter("changes", "delta_id", "n", "action", "unit_id", "state", "old_state", "target", "old_target", "event"),
		newFailing:   newInserter("failing", "unit_id", "translation_id", "source_id", "low", "high"),
	}
	return tx, tx.loadConvoy(ctx)
}

func (info *StepInfo) check() error {
	switch {
	case len(info.Components) == 0:
		return invalid("step to %s: no components", info.To)
	case info.To == "":
		return invalid("step from %q: no head to move to", info.From)
	case info.At.IsZero():
		return invalid("step to %s: no time", info.To)
	}
	for i, id := range info.Components[1:] {
		if id <= info.Components[i] {
			return invalid("step to %s: components are not ascending", info.To)
		}
	}
	return nil
}

// loadConvoy reads the rows and refuses early what the compare-and-swap at the
// end would refuse.
func (tx *StepTx) loadConvoy(ctx context.Context) error {
	err := chunks(tx.info.Components, func(chunk []any) error {
		args := append([]any{tx.info.From, tx.info.Repo, tx.info.Branch}, chunk...)
		return tx.s.query(ctx, `SELECT id, project_id, tracking, imported, reread, last_unit, last_delta, last_at FROM components
			WHERE head = $1 AND repo = $2 AND branch = $3 AND active = 1 AND id IN `+list(4, len(chunk)), args, func(scan scan) error {
			var id int64
			var m convoyMember
			err := scan(&id, &m.project, &m.tracking, &m.imported, &m.reread, &m.lastUnit, &m.lastDelta, &m.lastAt)
			tx.convoy[id] = &m
			return err
		})
	})
	if err == nil && len(tx.convoy) != len(tx.info.Components) {
		err = tx.conflict(len(tx.convoy))
	}
	return err
}

func (tx *StepTx) conflict(found int) error {
	return conflict("%d of %d components stand at %q: another process moved or reconfigured the rest",
		found, len(tx.info.Components), tx.info.From)
}

func (tx *StepTx) member(component int64) (*convoyMember, error) {
	m, ok := tx.convoy[component]
	if !ok {
		return nil, invalid("component %d is not in the convoy %v", component, short(tx.info.Components))
	}
	return m, nil
}

// componentOf finds the component of a translation.
func (tx *StepTx) componentOf(ctx context.Context, translation int64) (int64, error) {
	if c, ok := tx.translations[translation]; ok {
		return c, nil
	}
	var c int64
	found, err := tx.s.first(ctx, `SELECT component_id FROM translations WHERE id = $1`, []any{translation}, &c)
	switch {
	case err != nil:
		return 0, err
	case !found:
		return 0, notFound("translation %d", translation)
	}
	if _, err := tx.member(c); err != nil {
		return 0, err
	}
	tx.translations[translation] = c
	return c, nil
}

// touch marks a translation, and with it its component, as changed.
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

// fail names the operation within the step.
func (tx *StepTx) fail(ctx context.Context, op string, err error) error {
	return tx.db.fail(ctx, op, err)
}

// short keeps messages readable for convoys of hundreds.
func short(ids []int64) []int64 { return slices.Clip(ids[:min(len(ids), 8)]) }
