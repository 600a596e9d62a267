package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// The table sent is the one place that says where texts of edits, and edits of files, went.
// A row is there before the push leaves, so that whatever a crash leaves is known, until
// the text has arrived in the branch that is read, or certainly does not.

// Place is where the edits of a component go: an address without credentials, and a branch
// of ours there. Branch is "" for the branch that is read.
type Place struct{ Repo, Branch string }

// PlaceOf is the place that the settings of a component name. With request_per the branches
// of requests may be below it.
func PlaceOf(c *catalog.Component, project string) Place {
	p := Place{Repo: c.Settings.Push}
	p.Repo = cmp.Or(p.Repo, c.Repo)
	switch {
	case c.Settings.Edits.Mode == catalog.PushDirect:
	case c.Settings.PushBranch != "":
		p.Branch = c.Settings.PushBranch
	default:
		p.Branch = "repoglot/" + project + "/" + c.Slug // no two components have the same
	}
	return p
}

// Has reports whether another place is this one, or a branch below it.
func (p Place) Has(o Place) bool {
	return p.Branch != "" && o.Branch != "" && p.Repo == o.Repo && isBelow(p.Branch, o.Branch)
}

// onPlace selects rows of sent that a branch of a place has, $2 and $3.
const onPlace = `s.at_commit <> '' AND s.repo = $2 AND (s.branch = $3 OR substr(s.branch, 1, length(CAST($3 AS TEXT)) + 1) = CAST($3 AS TEXT) || '/')`

// isBelow reports whether a branch is another one, or below it.
func isBelow(base, branch string) bool { return branch == base || strings.HasPrefix(branch, base+"/") }

// sameText joins rows of sent with the edits e whose last text they have, or of a file, which
// has one. editOfFile is what tells the edits of files apart there.
const (
	sameText   = `s.unit_id = e.unit_id AND s.edit_id = ` + editOfFile + ` AND s.target = e.target AND s.state = e.state`
	editOfFile = `CASE WHEN e.unit_id = 0 THEN e.id ELSE 0 END`
)

// SentText is a text of an edit that was sent and may still arrive.
type SentText struct {
	// UnitID and Identity name the string.
	UnitID   int64
	Identity catalog.Identity
	// N grows with each text of the string.
	N int64
	edit.Text
	// By is who gave the string another text by taking this one back, or by an edit that
	// arrived before; zero if that was the repository. Time is not set.
	By edit.Author
}

func sentWhere(ctx context.Context, s *sqldb.Session, where string, args ...any) ([]SentText, error) {
	return sqldb.Rows(ctx, s, `SELECT s.unit_id, u.id_hash, u.id_key, s.n, s.target, s.state, s.by_name, s.by_email FROM sent s JOIN units u ON u.id = s.unit_id`+where+` ORDER BY s.unit_id, s.n`, args, func(t *SentText) []any {
		return []any{&t.UnitID, &t.Identity.Hash, &t.Identity.Key, &t.N, &t.Target, &t.State, &t.By.Name, &t.By.Email}
	})
}

// SentTexts returns the texts of a translation that may still arrive, by unit, in the order
// in which they were sent.
func (tx *StepTx) SentTexts(ctx context.Context, component, translation int64) ([]SentText, error) {
	list, err := sentWhere(ctx, tx.s, ` WHERE s.component_id = $1 AND s.translation_id = $2`, component, translation)
	return list, tx.fail(ctx, fmt.Sprintf("read what was sent of translation %d", translation), err)
}

// Arrived forgets that a text was sent, and those before it that no branch of ours has: if
// the repository gets one of them again, it wrote it. The history of the edit that is
// pending has it; nil without one.
func (tx *StepTx) Arrived(ctx context.Context, e *Edit, t *SentText, at time.Time) error {
	err := tx.s.Do(ctx, `DELETE FROM sent WHERE unit_id = $1 AND edit_id = 0 AND (n = $2 OR n < $2 AND at_commit = '' AND next_commit = '')`, t.UnitID, t.N)
	if err == nil && e != nil && e.Status == EditPending {
		if err = tx.s.Do(ctx, `UPDATE edits SET since = updated_at WHERE id = $1`, e.ID); err == nil {
			err = tx.noteEdit(ctx, &Edit{ID: e.ID, Edit: edit.Edit{Ours: t.Text}}, edit.Author{}, "arrived", at)
		}
	}
	return tx.fail(ctx, fmt.Sprintf("forget what was sent of unit %d", t.UnitID), err)
}

// NoneOnItsWay forgets what was sent to the branch that is read, now that components are at
// its head: either it arrived, or the branch moved without it, and git refuses it.
func (tx *StepTx) NoneOnItsWay(ctx context.Context, components []int64) error {
	err := tx.s.DoIn(ctx, `DELETE FROM sent WHERE branch = '' AND component_id IN $ids`, nil, components)
	return tx.fail(ctx, "forget what was sent", err)
}

// endSent notes for the texts that were sent of an edit how it ended. by says who gave the
// string its text, which is written again if one of them arrives; after a conflict nobody.
func (tx *StepTx) endSent(ctx context.Context, e *Edit, by edit.Author) error {
	if e.Status == EditFlushed {
		if err := tx.s.Do(ctx, `DELETE FROM sent WHERE unit_id = $1 AND edit_id = 0 AND (target = $2 OR at_commit = '' AND next_commit = '' AND n < (
			SELECT MAX(n) FROM sent WHERE unit_id = $1 AND edit_id = 0 AND target = $2))`, e.UnitID, e.Ours.Target); err != nil {
			return err
		}
	}
	var one int64
	found, err := tx.s.First(ctx, `SELECT 1 FROM sent WHERE unit_id = $1 AND edit_id = 0 LIMIT 1`, []any{e.UnitID}, &one)
	if err != nil || !found {
		return err
	}
	if e.Status == EditFlushed {
		if by, err = tx.lastAuthor(ctx, e.ID); err != nil {
			return err
		}
	}
	return tx.s.Do(ctx, `UPDATE sent SET by_name = $1, by_email = $2 WHERE unit_id = $3 AND edit_id = 0`, by.Name, by.Email, e.UnitID)
}

// SentOf counts the texts that were sent of a string and may still arrive.
func (tx *StepTx) SentOf(ctx context.Context, unit int64) (n int, err error) {
	_, err = tx.s.First(ctx, `SELECT COUNT(*) FROM sent WHERE unit_id = $1 AND edit_id = 0`, []any{unit}, &n)
	return n, tx.fail(ctx, fmt.Sprintf("count what was sent of unit %d", unit), err)
}

// fillSent sets what was sent of edits of a component.
func (s *Snapshot) fillSent(ctx context.Context, component int64, edits []Edit) error {
	of := catalog.ByKey(edits, func(e *Edit) int64 { return e.UnitID })
	list, err := sentWhere(ctx, s.s, ` WHERE s.component_id = $1 AND s.translation_id <> 0`, component)
	for i := range list {
		if e := of[list[i].UnitID]; e != nil {
			e.Sent = append(e.Sent, list[i].Text)
		}
	}
	return err
}

// ErrNotPending says that something of a push is not pending any more: what is pushed must
// be made anew.
var ErrNotPending = fmt.Errorf("not pending any more: %w", catalog.ErrConflict)

// Sending is what a push is about to send.
type Sending struct {
	Place
	// Commit is where the push puts the branch.
	Commit string
	// Edits are what the commits have.
	Edits []Edit
}

// Send notes what is about to be pushed to the branch that is read. before is the commit of
// the last attempt, which certainly did not arrive, "" without one. The error wraps
// ErrNotPending.
func (db *DB) Send(ctx context.Context, before string, o Sending) error {
	return db.fail(ctx, "note what is pushed", db.write(ctx, func(s *sqldb.Session) error {
		return cmp.Or(unsend(ctx, s, o.Place, before), send(ctx, s, &o))
	}))
}

// Unsend forgets a push that certainly did not arrive.
func (db *DB) Unsend(ctx context.Context, at Place, commit string) error {
	return db.fail(ctx, "forget a push", db.write(ctx, func(s *sqldb.Session) error { return unsend(ctx, s, at, commit) }))
}

func unsend(ctx context.Context, s *sqldb.Session, at Place, commit string) error {
	if commit == "" {
		return nil
	}
	return cmp.Or(s.Do(ctx, `DELETE FROM sent WHERE repo = $1 AND branch = $2 AND next_commit = $3 AND at_commit = '' AND left_at = 0`, at.Repo, at.Branch, commit),
		s.Do(ctx, `UPDATE sent SET next_commit = '' WHERE repo = $1 AND branch = $2 AND next_commit = $3`, at.Repo, at.Branch, commit))
}

// send adds rows, or notes the commit in those that are there, for what is still pending.
func send(ctx context.Context, s *sqldb.Session, o *Sending) error {
	written := catalog.ByKey(o.Edits, (*Edit).id)
	var same, changed []int64 // since they were read
	err := s.QueryIn(ctx, `SELECT id, target, state FROM edits WHERE status = 'pending' AND id IN $ids`, nil, sqldb.SortedKeys(written), sqldb.Cols3(func(id int64, target string, state catalog.State) {
		if written[id].Ours == (edit.Text{Target: target, State: state}) {
			same = append(same, id)
		} else {
			changed = append(changed, id)
		}
	}))
	args := []any{o.Commit, o.Repo, o.Branch}
	if err == nil {
		err = s.DoIn(ctx, `UPDATE sent SET next_commit = $1 WHERE repo = $2 AND branch = $3 AND at_commit <> $1
			AND unit_id IN (SELECT e.unit_id FROM edits e WHERE e.id IN $ids AND e.target = sent.target AND e.state = sent.state AND sent.edit_id = `+editOfFile+`)`, args, same)
	}
	if err == nil {
		err = s.DoIn(ctx, sentColumns+`SELECT e.unit_id, `+editOfFile+`, COALESCE((SELECT MAX(o.n) FROM sent o WHERE o.unit_id = e.unit_id AND o.edit_id = `+editOfFile+`), 0) + 1,
			e.component_id, e.translation_id, e.target, e.state, CAST($2 AS TEXT), CAST($3 AS TEXT), '', CAST($1 AS TEXT), 0 FROM edits e WHERE e.id IN $ids
			AND NOT EXISTS (SELECT 1 FROM sent s WHERE `+sameText+` AND s.repo = $2 AND s.branch = $3)`, args, same)
	}
	for i := 0; i < len(changed) && err == nil; i++ {
		err = o.sendOne(ctx, s, written[changed[i]])
	}
	missing := len(written) - len(same) - len(changed)
	if err == nil && missing > 0 {
		err = fmt.Errorf("%d edits are %w", missing, ErrNotPending)
	}
	return err
}

const sentColumns = `INSERT INTO sent (unit_id, edit_id, n, component_id, translation_id, target, state, repo, branch, at_commit, next_commit, left_at) `

// sendOne notes a text of an edit that has another one by now.
func (o *Sending) sendOne(ctx context.Context, s *sqldb.Session, e *Edit) error {
	args := []any{o.Commit, o.Repo, o.Branch, e.UnitID, e.Ours.Target, int64(e.Ours.State)}
	var n int64
	found, err := s.First(ctx, `SELECT n FROM sent WHERE unit_id = $1 AND edit_id = 0 AND target = $2 AND state = $3 AND repo = $4 AND branch = $5`,
		[]any{e.UnitID, e.Ours.Target, int64(e.Ours.State), o.Repo, o.Branch}, &n)
	switch {
	case err != nil:
		return err
	case found:
		return s.Do(ctx, `UPDATE sent SET next_commit = $1 WHERE unit_id = $2 AND edit_id = 0 AND n = $3 AND at_commit <> $1`, o.Commit, e.UnitID, n)
	}
	return s.Do(ctx, sentColumns+`SELECT $4, 0, COALESCE(MAX(n), 0) + 1, $7, $8, $5, $6, $2, $3, '', $1, 0 FROM sent WHERE unit_id = $4 AND edit_id = 0`,
		append(args, e.ComponentID, e.TranslationID)...)
}

// PushBranch is a branch of ours at a remote, wholly derived.
type PushBranch struct {
	// Repo is the address that it is pushed to, without credentials; Branch its name.
	Repo, Branch string
	// At is the commit that it was put at last, Next the one that a push that may have
	// been interrupted puts it at; "" without one.
	At, Next string
	// Request is the number of the request to merge it, 0 without one, URL its page.
	Request int
	URL     string
	// Title and Body are the sums of the texts that the request was given last, Base the
	// branch to merge it into (forge.Texts); "" without one.
	Title, Body, Base string
}

// pushBranchColumns are what is stored of a branch of ours.
const pushBranchColumns = `repo, branch, at_commit, next_commit, request, request_url, request_title, request_body, request_base`

func (b *PushBranch) fields() []any {
	return []any{&b.Repo, &b.Branch, &b.At, &b.Next, &b.Request, &b.URL, &b.Title, &b.Body, &b.Base}
}

// Requestless returns b without a request.
func (b PushBranch) Requestless() PushBranch {
	return PushBranch{Repo: b.Repo, Branch: b.Branch, At: b.At, Next: b.Next}
}

// Place is where the branch is.
func (b *PushBranch) Place() Place { return Place{Repo: b.Repo, Branch: b.Branch} }

// PushBranch returns what is stored of a branch of ours; a zero At if nothing is.
func (db *DB) PushBranch(ctx context.Context, repo, branch string) (PushBranch, error) {
	return ask(ctx, db, "read a branch of ours", func(s *sqldb.Session) (PushBranch, error) { return pushBranch(ctx, s, repo, branch) })
}

// PushBranches returns what is stored of a branch of ours and of those below it, by name:
// those that may be at the remote, or have a request.
func (db *DB) PushBranches(ctx context.Context, repo, branch string) ([]PushBranch, error) {
	list, err := ask(ctx, db, "read branches of ours", func(s *sqldb.Session) ([]PushBranch, error) {
		return sqldb.Rows(ctx, s, `SELECT `+pushBranchColumns+` FROM push_branches
			WHERE repo = $1 AND (at_commit <> '' OR next_commit <> '' OR request <> 0) ORDER BY branch`, []any{repo}, (*PushBranch).fields)
	})
	return slices.DeleteFunc(list, func(b PushBranch) bool { return !isBelow(branch, b.Branch) }), err
}

// ClaimPushBranch stores a branch of ours before a push, and what is sent to it, if what is
// stored of it is still was; else another process pushes it, and the error wraps
// catalog.ErrConflict, or ErrNotPending.
func (db *DB) ClaimPushBranch(ctx context.Context, was, b PushBranch, edits []Edit) error {
	return db.fail(ctx, "store a branch of ours", db.write(ctx, func(s *sqldb.Session) error {
		return cmp.Or(db.swapPushBranch(ctx, s, was, b), send(ctx, s, &Sending{Place: b.Place(), Commit: b.Next, Edits: edits}))
	}))
}

// LeavePushBranch is ClaimPushBranch when a branch of ours is withdrawn: what it has of the
// components waits to be pushed again.
func (db *DB) LeavePushBranch(ctx context.Context, was, b PushBranch, components []int64) error {
	return db.fail(ctx, "store that a branch of ours is left", db.write(ctx, func(s *sqldb.Session) error {
		return cmp.Or(db.swapPushBranch(ctx, s, was, b),
			s.DoIn(ctx, `UPDATE sent SET at_commit = '', next_commit = '', left_at = $1 WHERE repo = $2 AND branch = $3 AND component_id IN $ids`, []any{db.now().UnixMicro(), b.Repo, b.Branch}, components),
			noteChanged(ctx, s, slices.Clone(components)))
	}))
}

// SetPushBranch stores a branch of ours after a push, and which pending edits it has. What
// was sent to it by this push first does not count as there if its request had ended
// meanwhile (ended): that may not have had it.
func (db *DB) SetPushBranch(ctx context.Context, b PushBranch, edits []Edit, ended bool) error {
	err := db.write(ctx, func(s *sqldb.Session) error {
		err := send(ctx, s, &Sending{Place: b.Place(), Commit: b.At, Edits: edits})
		if err != nil && !errors.Is(err, ErrNotPending) {
			return err
		}
		if ended {
			if err := s.Do(ctx, `UPDATE sent SET next_commit = '', left_at = $1 WHERE repo = $2 AND branch = $3 AND next_commit = $4 AND at_commit = ''`,
				db.now().UnixMicro(), b.Repo, b.Branch, b.At); err != nil {
				return err
			}
		}
		return db.putPushBranch(ctx, s, b)
	})
	return db.fail(ctx, "store a branch of ours", err)
}

// swapPushBranch stores b if was is stored.
func (db *DB) swapPushBranch(ctx context.Context, s *sqldb.Session, was, b PushBranch) error {
	now, err := pushBranch(ctx, s, was.Repo, was.Branch)
	if err == nil && now != was {
		err = fmt.Errorf("another process pushes %s: %w", was.Branch, catalog.ErrConflict)
	}
	if err != nil {
		return err
	}
	return db.putPushBranch(ctx, s, b)
}

func pushBranch(ctx context.Context, s *sqldb.Session, repo, branch string) (PushBranch, error) {
	b := PushBranch{Repo: repo, Branch: branch}
	_, err := s.First(ctx, `SELECT `+pushBranchColumns+` FROM push_branches WHERE repo = $1 AND branch = $2`, []any{repo, branch}, b.fields()...)
	return b, err
}

// putPushBranch stores where a branch of ours is, and what follows for what was sent to it:
// it has what was sent with that commit, and nothing else. Components of which that was not
// known have changed.
func (db *DB) putPushBranch(ctx context.Context, s *sqldb.Session, b PushBranch) error {
	if err := s.Do(ctx, `INSERT INTO push_branches (`+pushBranchColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (repo, branch) DO UPDATE SET at_commit = excluded.at_commit, next_commit = excluded.next_commit,
		request = excluded.request, request_url = excluded.request_url, request_title = excluded.request_title, request_body = excluded.request_body, request_base = excluded.request_base`,
		b.Repo, b.Branch, b.At, b.Next, b.Request, b.URL, b.Title, b.Body, b.Base); err != nil {
		return err
	}
	var changed []int64
	err := s.IDs(ctx, `SELECT DISTINCT component_id FROM sent WHERE repo = $1 AND branch = $2 AND (next_commit <> '' AND next_commit <> $4 OR at_commit <> '' AND at_commit <> $3)`,
		[]any{b.Repo, b.Branch, b.At, b.Next}, &changed)
	if err != nil || len(changed) == 0 {
		return err
	}
	if b.At != "" {
		err = s.Do(ctx, `UPDATE sent SET at_commit = $3, next_commit = '', left_at = 0 WHERE repo = $1 AND branch = $2 AND next_commit = $3`, b.Repo, b.Branch, b.At)
	}
	return cmp.Or(err, s.Do(ctx, `UPDATE sent SET at_commit = '', next_commit = CASE WHEN next_commit = $4 THEN next_commit ELSE '' END, left_at = $5
		WHERE repo = $1 AND branch = $2 AND (at_commit = '' OR at_commit <> $3) AND (at_commit <> '' OR next_commit <> '' AND next_commit <> $4)`,
		b.Repo, b.Branch, b.At, b.Next, db.now().UnixMicro()),
		s.Do(ctx, `UPDATE sent SET next_commit = '' WHERE repo = $1 AND branch = $2 AND next_commit <> '' AND next_commit <> $3`, b.Repo, b.Branch, b.Next),
		noteChanged(ctx, s, changed))
}

// OnBranch returns the pending edits of components that a branch of ours has.
func (s *Snapshot) OnBranch(ctx context.Context, b PushBranch, components []int64) ([]Edit, error) {
	edits, err := editsIn(ctx, s.s, components, ` WHERE e.status = 'pending' AND EXISTS (SELECT 1 FROM sent s WHERE `+sameText+`
		AND s.repo = $1 AND s.branch = $2 AND s.at_commit <> '' AND s.component_id IN $ids) ORDER BY e.id`, b.Repo, b.Branch)
	return edits, s.s.Fail(ctx, "read what a branch of ours has", err)
}

// PushedBeside reports whether a branch of ours has pending edits of other components of a
// repository than some.
func (s *Snapshot) PushedBeside(ctx context.Context, repo string, b PushBranch, components []int64) (beside bool, err error) {
	args := sqldb.Append([]any{b.Repo, b.Branch, repo}, components)
	var one int64
	beside, err = s.s.First(ctx, `SELECT 1 FROM sent s JOIN components c ON c.id = s.component_id
		WHERE s.repo = $1 AND s.branch = $2 AND s.at_commit <> '' AND c.repo = $3 AND c.active = 1 AND c.id NOT IN `+sqldb.List(4, len(components))+` AND
		EXISTS (SELECT 1 FROM edits e WHERE e.status = 'pending' AND `+sameText+`) LIMIT 1`, args, &one)
	return beside, s.s.Fail(ctx, "read what a branch of ours has", err)
}

// Strays returns branches of ours that have, or may get, what was sent of components: all
// that are stored.
func (s *Snapshot) Strays(ctx context.Context, components []int64) (found []PushBranch, err error) {
	err = s.s.QueryIn(ctx, `SELECT `+pushBranchColumns+` FROM push_branches b
		WHERE (b.at_commit <> '' OR b.next_commit <> '' OR b.request <> 0) AND EXISTS (
		SELECT 1 FROM sent s WHERE s.branch = b.branch AND s.repo = b.repo AND s.component_id IN $ids) ORDER BY b.repo, b.branch`, nil, components, func(scan sqldb.Scan) error {
		var b PushBranch
		err := scan(b.fields()...)
		if !slices.Contains(found, b) {
			found = append(found, b)
		}
		return err
	})
	return found, s.s.Fail(ctx, "read branches of ours", err)
}

// PushWait says when the edits of a branch are pushed again. All processes go by it.
type PushWait struct {
	// Failures counts the pushes in a row that failed, Held those that left edits pending
	// which cannot be written.
	Failures, Held int
	// Unreached says that the repository could not be fetched: pulls try again with pauses
	// of their own, and one that succeeds is followed by a push.
	Unreached bool
	// Ended is when the last push ended; zero: there was none.
	Ended time.Time
	// Later is before when nothing is pushed, HeldTill before when what was left pending is
	// not tried again, Until before when the forge wants no requests.
	Later, HeldTill, Until time.Time
	// Wish is what a client of the cluster wished when a push failed; 0: nothing.
	Wish int64
}

// PushWait returns when the edits of a branch, by its ingest.BranchKey, are pushed again.
func (db *DB) PushWait(ctx context.Context, branch string) (PushWait, error) {
	return ask(ctx, db, "read when edits are pushed again", func(s *sqldb.Session) (w PushWait, err error) {
		_, err = s.First(ctx, `SELECT failures, held, unreached, ended, later, held_till, until, wish FROM push_waits WHERE branch = $1`, []any{branch},
			&w.Failures, &w.Held, &w.Unreached, &w.Ended, &w.Later, &w.HeldTill, &w.Until, &w.Wish)
		return w, err
	})
}

// SetPushWait stores when the edits of a branch are pushed again.
func (db *DB) SetPushWait(ctx context.Context, branch string, w PushWait) error {
	return db.fail(ctx, "store when edits are pushed again", db.write(ctx, func(s *sqldb.Session) error {
		return s.Do(ctx, `INSERT INTO push_waits (branch, failures, held, unreached, ended, later, held_till, until, wish) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (branch) DO UPDATE SET failures = excluded.failures, held = excluded.held, unreached = excluded.unreached, ended = excluded.ended,
			later = excluded.later, held_till = excluded.held_till, until = excluded.until, wish = excluded.wish`,
			branch, w.Failures, w.Held, sqldb.Smallint(w.Unreached), sqldb.Micros(w.Ended), sqldb.Micros(w.Later), sqldb.Micros(w.HeldTill), sqldb.Micros(w.Until), w.Wish)
	}))
}

// ForgetPushWaits has the edits of branches pushed, and their requests looked at, at once,
// unless a forge wants no requests.
func (db *DB) ForgetPushWaits(ctx context.Context, branches []string) error {
	return db.fail(ctx, "have edits pushed at once", db.write(ctx, func(s *sqldb.Session) error {
		return catalog.Try(branches, func(branch *string) error {
			return s.Do(ctx, `UPDATE push_waits SET failures = 0, held = 0, unreached = 0, ended = NULL, later = until, held_till = NULL WHERE branch = $1`, *branch)
		})
	}))
}
