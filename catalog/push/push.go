package push

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/flush"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// Options configure a Pusher. DB, Syncer, Editor and Languages are required.
type Options struct {
	DB        *store.DB
	Syncer    *ingest.Syncer
	Editor    *editing.Editor
	Languages *lang.Table
	// Name and Email are the committer's, SiteTitle and BaseURL, without a last slash, are for messages.
	Name, SiteTitle string
	Email, BaseURL  func() string
	// MaxFile bounds a file in bytes; 0: 128 MiB.
	MaxFile int64
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Logger; nil: silence.
	Logger *slog.Logger
}

// Destination is where the edits of a component go, beyond what its settings say:
// addresses with secrets.
type Destination struct {
	// Repository is pushed to; without an address the one that is pulled from.
	Repository remote.Repository
	// Signer signs commits; nil: none does.
	Signer derive.Signer
	// Forge has the requests of mode request, and those of others.
	Forge forge.Forge
	// Git is a repository of the forge by its path, its own by "", with the forge's token and
	// no other credential; without an address if there is no such path.
	Git func(path string) remote.Repository
}

// Pusher flushes edits. It is safe for concurrent use.
type Pusher struct {
	Options
	memo  flush.Memo
	looks looks
	// looked has the heads of components at which noteTemplates looked.
	looked sync.Map
	// most bounds the strings that all files of a component together get by itself.
	most int64
	// stop, in tests, ends a flush as a crash would: before a push, or after it.
	stop func(after bool) error
}

// New makes a Pusher.
func New(o Options) *Pusher {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Pusher{Options: o, looks: looks{waits: map[string]lookWait{}, known: map[string]map[int]*verdict{}}, most: 5_000_000, stop: func(bool) error { return nil }}
}

// Report is what a flush did.
type Report struct {
	// Commits is the number of commits that were pushed.
	Commits int
	// Edits is the number of edits in them.
	Edits int
	// Held are edits that stay pending, with the reason, by id.
	Held map[int64]string
	// Told has the ids of those whose reason is new, by the reason.
	Told map[string][]int64
}

// rows returns the components of a branch that take edits.
func (p *Pusher) rows(ctx context.Context, b ingest.Branch) ([]store.BranchComponent, error) {
	if len(b.Components) == 0 {
		return nil, nil
	}
	spec := &b.Components[0].Spec
	rows, err := p.DB.Branch(ctx, spec.Repo, spec.Branch)
	return slices.DeleteFunc(rows, func(r store.BranchComponent) bool { return !r.Settings.Edits.Taken() || !r.Imported }), err
}

// FlushOnly makes commits of the pending edits of some components of a branch and pushes
// them, and pulls what was pushed to the branch itself. to says where the edits of a component
// go. Without pending edits it does nothing. It holds the mirror, as a pull does. The error
// joins those of all destinations; edits that it is about stay pending. Components that share
// a branch of our own with others wait: it is made of the edits of all.
func (p *Pusher) FlushOnly(ctx context.Context, b ingest.Branch, to func(*store.BranchComponent) Destination, of func(*store.BranchComponent) bool) (report Report, err error) {
	report.Held, report.Told = map[int64]string{}, map[string][]int64{}
	err = p.Syncer.Hold(ctx, b, func(ctx context.Context, held *ingest.Held) error {
		head, err := pull(ctx, held)
		if err != nil {
			return err
		}
		rows, err := p.rows(ctx, b)
		if err != nil {
			return err
		}
		errs := []error{p.settleFiles(ctx, held, rows), p.withdrawStrays(ctx, held, b, rows, to)}
		kept, reasons, err := p.updateFiles(ctx, held, slices.DeleteFunc(slices.Clone(rows), func(row store.BranchComponent) bool { return !of(&row) }))
		errs = append(errs, err)
		for _, g := range only(destinations(rows, to), of) {
			run := &run{Pusher: p, held: held, branch: b, head: head, group: g, report: &report}
			for _, e := range kept {
				if slices.Contains(idsOf(g.rows), e.ComponentID) {
					run.keep(e, reasons[e.ID])
				}
			}
			errs = append(errs, run.note(ctx, run.flushKeys(ctx)))
		}
		return errors.Join(append(errs, p.show(ctx, held, b, to))...)
	})
	if err != nil {
		return report, fmt.Errorf("push edits of %s: %w", b.Key, err)
	}
	return report, nil
}

// only leaves out groups, and of those that push to the branch that is read components.
func only(groups []*group, of func(*store.BranchComponent) bool) []*group {
	return slices.DeleteFunc(groups, func(g *group) bool {
		all := len(g.rows)
		g.rows = slices.DeleteFunc(g.rows, func(row store.BranchComponent) bool { return !of(&row) })
		return len(g.rows) == 0 || len(g.rows) < all && g.mode != catalog.PushDirect
	})
}

// pull pulls, and returns the head. That some components cannot be read is said by the next
// pull by the clock, and holds up neither the edits of the others nor theirs: what becomes
// of an edit is decided by the file at the head.
func pull(ctx context.Context, held *ingest.Held) (head string, err error) {
	report, err := held.Pull(ctx)
	if report.Reached() && ctx.Err() == nil {
		err = nil
	}
	return report.Head, err
}

// group are components whose edits go to one branch.
type group struct {
	mode   catalog.PushMode
	branch string // "": the one that is read
	to     Destination
	rows   []store.BranchComponent
	styles map[string]flush.Style // by component
	keyed  bool                   // only edits whose request has the branch
}

// row returns a component of the group.
func (g *group) row(id int64) *store.BranchComponent {
	return catalog.Find(g.rows, func(row *store.BranchComponent) bool { return row.ID == id })
}

// idsOf returns the ids of components.
func idsOf(rows []store.BranchComponent) []int64 {
	return catalog.Each(rows, func(row *store.BranchComponent) int64 { return row.ID })
}

// destinations groups components by where their edits go, in the order of their ids: one
// branch of one repository is one group, or each would overwrite what the other pushed.
func destinations(rows []store.BranchComponent, to func(*store.BranchComponent) Destination) []*group {
	var list []*group
	for i := range rows {
		row := &rows[i]
		place := placeOf(row)
		g := &group{mode: row.Settings.Edits.Mode, branch: place.Branch, to: to(row), styles: map[string]flush.Style{}}
		at := slices.IndexFunc(list, func(o *group) bool { return placeOf(&o.rows[0]) == place })
		if at < 0 {
			at, list = len(list), append(list, g)
		}
		list[at].rows = append(list[at].rows, *row)
		s := &row.Settings.Edits
		list[at].styles[componentKey(row.ID)] = flush.Style{By: s.CommitBy, SignOff: s.SignOff, Signer: g.to.Signer}
	}
	return list
}

// componentKey is the key of a component in a flush.
func componentKey(id int64) string { return strconv.FormatInt(id, 10) }

// BranchOf is the branch of our own that the edits of a component go to: push_branch, or
// one for each component. With request_per the branches of requests may be below it.
func BranchOf(row *store.BranchComponent) string { return placeOf(row).Branch }

func placeOf(row *store.BranchComponent) store.Place {
	return store.PlaceOf(&row.Component, row.Project.Slug)
}

// run is the flush of one group.
type run struct {
	*Pusher
	held   *ingest.Held
	branch ingest.Branch
	head   string // as of the last pull
	group  *group
	report *Report

	// committed leaves out edits that nobody asked to commit.
	committed bool

	attempt string                             // the commit that was sent last to the branch that is read
	known   store.PushBranch                   // of a branch of our own
	stored  store.PushBranch                   // what is stored of it
	there   map[string][]byte                  // templates that are elsewhere, by templateName
	ofFiles []store.Edit                       // pending: files and strings to be added, files to be removed
	updated map[int]flush.Updated              // by index of ofFiles
	files   []flush.File                       // with pending edits of texts
	edits   [][]store.Edit                     // the same edits
	counts  map[int64]map[string]catalog.Stats // by component and language
	kept    []store.Edit                       // that stay pending, with the reason
	failed  []failedPush                       // what note stores
}

func (r *run) flush(ctx context.Context) error {
	to := flush.Target{Repository: r.group.to.Repository, Branch: r.tracking(), Derived: r.group.mode != catalog.PushDirect}
	if to.Branch == object.Detached && !to.Derived {
		return errors.New("the HEAD that is read names a commit and no branch: set branch, or check one out there")
	}
	if to.Derived {
		to.Branch = r.group.branch
		if to.Branch == r.tracking() {
			return fmt.Errorf("push_branch %s is the branch that is read: set push_mode: direct, or another push_branch", to.Branch)
		}
		if err := r.settle(ctx, &to); err != nil {
			return err
		}
	}
	to.Before = r.claim
	if err := r.read(ctx); err != nil {
		return err
	}
	if len(r.files)+len(r.ofFiles) == 0 {
		return r.withdraw(ctx, &to)
	}
	result, err := flush.Run(ctx, r.held.Mirror(), to, func(ctx context.Context, head object.Head) (_ []flush.File, o flush.Options, err error) {
		if head.Hash.String() != r.head {
			if r.head, err = pull(ctx, r.held); err != nil {
				return nil, o, err
			}
			if err := r.reload(ctx); err != nil {
				return nil, o, err
			}
		}
		if err := r.read(ctx); err != nil {
			return nil, o, err
		}
		return r.files, r.options(), nil
	})
	if err == nil {
		err = r.stop(true)
	}
	if errors.Is(err, remote.ErrMoved) || errors.Is(err, remote.ErrDeclined) {
		err = errors.Join(err, r.DB.Unsend(ctx, r.place(), result.Head.String()))
	}
	if err != nil {
		return err
	}
	written := r.written(result)
	r.outcomes(result)
	if r.updated = result.Updated; result.Head == result.Parent || to.Derived {
		if err := r.endUpdates(ctx, result); err != nil {
			return err
		}
	}
	if result.Head == result.Parent && len(result.Problems)+len(result.FileProblems) == 0 {
		return r.withdraw(ctx, &to) // what is pending is about strings that are away
	}
	if result.Head != to.At { // else our branch has them already
		r.report.Commits += len(result.Commits)
		r.report.Edits += len(texts(written))
	}
	if !to.Derived {
		r.head, err = pull(ctx, r.held) // which finds that the edits are done
		if err == nil {
			err = errors.Join(r.unread(ctx, written), r.endUpdates(ctx, result))
		}
		return err
	}
	return r.pushed(ctx, result, written)
}

// claim notes what is about to be pushed, before it leaves: whatever a crash leaves of the
// push, its texts are ours if they arrive. What was taken back since it was read is not
// pushed.
func (r *run) claim(ctx context.Context, result flush.Result) error {
	commit := result.Head.String()
	var err error
	if r.group.mode == catalog.PushDirect {
		err = r.DB.Send(ctx, r.attempt, store.Sending{Place: r.place(), Commit: commit, Edits: r.written(result)})
		r.attempt = commit
	} else {
		r.known.Next = commit
		err = r.DB.ClaimPushBranch(ctx, r.stored, r.known, r.written(result))
	}
	if errors.Is(err, store.ErrNotPending) {
		err = fmt.Errorf("%w: %w", flush.ErrStale, err)
	}
	if err != nil {
		return err
	}
	return r.stop(false)
}

// place is where the group is pushed to.
func (r *run) place() store.Place {
	return store.Place{Repo: r.repository().String(), Branch: r.group.branch}
}

// options say how commits of files are made.
func (r *run) options() flush.Options {
	return flush.Options{
		Styles: r.group.styles, Memo: &r.memo, MaxFile: r.MaxFile, Message: r.message, Files: r.filesToChange(), Elsewhere: r.there,
		Committer: object.Signature{Name: r.Name, Email: r.Email(), When: r.newest()},
	}
}

// written returns the edits that commits have, or that were done already if they are of files.
func (r *run) written(result flush.Result) (written []store.Edit) {
	for f := range r.edits {
		for i := range r.edits[f] {
			if result.Outcomes[f][i].Outcome.Written() {
				written = append(written, r.edits[f][i])
			}
		}
	}
	for i := range r.ofFiles {
		if result.FileProblems[i] == nil {
			written = append(written, r.ofFiles[i])
		}
	}
	return written
}

// texts leaves out the edits of files.
func texts(edits []store.Edit) []store.Edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e store.Edit) bool { return e.Kind != store.EditText })
}

// outcomes notes why edits were not written.
func (r *run) outcomes(result flush.Result) {
	for f := range r.edits {
		for i, e := range r.edits[f] {
			got := result.Outcomes[f][i]
			switch {
			case got.Outcome.Written():
				continue
			case result.Problems[f] != nil:
				r.keep(e, result.Problems[f].Error())
			case got.Outcome == edit.Done:
				r.keep(e, inRepository)
			default:
				r.keep(e, cmp.Or(got.Reason, got.Outcome.String()))
			}
		}
	}
	for i, problem := range result.FileProblems {
		r.keep(r.ofFiles[i], problem.Error())
	}
	for i, u := range result.Updated {
		if e := r.ofFiles[i]; u.Stopped && result.FileProblems[i] == nil {
			e.Reason = edit.UpdateStopped
			r.kept = append(r.kept, e) // while a branch of ours has it
		}
	}
}

// unread notes the edits that were pushed to the branch that is read, and that the pull did
// not find, as their component cannot be read.
func (r *run) unread(ctx context.Context, written []store.Edit) error {
	if err := r.reload(ctx); err != nil {
		return err
	}
	for _, e := range texts(written) {
		if r.group.row(e.ComponentID).Problem.Failed() {
			r.keep(e, inRepository)
		}
	}
	return nil
}

// inRepository is the reason of an edit whose text is in a file that cannot be read.
const inRepository = "the repository has this text, and the component cannot be read"

// keep notes that an edit stays pending.
func (r *run) keep(e store.Edit, reason string) {
	if e.Reason != reason {
		r.report.Told[reason] = append(r.report.Told[reason], e.ID)
	}
	e.Reason = reason
	r.report.Held[e.ID], r.kept = reason, append(r.kept, e)
}

// reload reads the components of the group again.
func (r *run) reload(ctx context.Context) error {
	for i := range r.group.rows {
		row, err := r.DB.ComponentByID(ctx, r.group.rows[i].ID)
		if err != nil {
			return err
		}
		r.group.rows[i] = row
	}
	return nil
}

// tracking is the branch that is read.
func (r *run) tracking() string { return r.group.rows[0].Tracking }

// newest is the time of the newest text: the committer's time, so that the same edits on
// the same head are the same commits.
func (r *run) newest() (at time.Time) {
	for _, edits := range slices.Concat(r.edits, [][]store.Edit{r.ofFiles}) {
		for i := range edits {
			if t := edits[i].Last().Time; t.After(at) {
				at = t
			}
		}
	}
	return at.Truncate(time.Second)
}

// Show makes commits of those pending edits of a branch that clients asked to commit, on
// the head of its mirror, and has clones of the mirror see them. It pushes nothing. The
// commits are wholly determined by head and journal, so it may be called at any time; what
// becomes of edits is told by FlushOnly. It holds the mirror, as a pull does.
func (p *Pusher) Show(ctx context.Context, b ingest.Branch, to func(*store.BranchComponent) Destination) error {
	err := p.Syncer.Hold(ctx, b, func(ctx context.Context, held *ingest.Held) error { return p.show(ctx, held, b, to) })
	if err != nil {
		return fmt.Errorf("commit edits of %s: %w", b.Key, err)
	}
	return nil
}

func (p *Pusher) show(ctx context.Context, held *ingest.Held, b ingest.Branch, to func(*store.BranchComponent) Destination) error {
	rows, err := p.rows(ctx, b)
	if err != nil {
		return err
	}
	if _, fetched := held.Mirror().Path(); !fetched {
		return nil // so nothing is shown
	}
	if err := p.settleFiles(ctx, held, rows); err != nil {
		return err
	}
	w, err := held.Mirror().Writer(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	tip := w.Head().Hash
	for _, g := range destinations(rows, to) {
		r := &run{Pusher: p, held: held, branch: b, group: g, committed: true}
		if err := r.read(ctx); err != nil {
			return err
		}
		if len(r.files) == 0 {
			continue
		}
		o := r.options()
		o.On = tip
		result, err := flush.Derive(ctx, w, r.files, o)
		if err != nil {
			return err
		}
		tip = result.Head
	}
	return w.Show(tip)
}
