package push

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/poparse/merge"
)

// Bounds of one look at the requests of others. What it does not come to waits for the next.
const (
	lookTime = time.Minute
	headTime = 20 * time.Second
	maxHead  = 64 << 20  // bytes of objects that a head brings
	maxSide  = 16 << 20  // bytes of a version of a file
	maxSides = 128 << 20 // of all of a request
)

// noMergeTree is said of requests where git cannot merge trees.
const noMergeTree = "which requests no longer merge is told with git 2.38 or newer, and not with git: builtin"

// verdict is what was found out about a request.
type verdict struct {
	catalog.Incoming
	clean    bool            // git merges it, or nothing is known yet
	files    map[string]bool // that it changes; nil: its head could not be read
	failures int             // in a row, of its head
	again    time.Time       // when that is tried again; zero: with another head
}

// Look finds out which open requests of others no longer merge into the branch that is read,
// and what merging them by meaning comes to, stores that at the components whose files they
// change, and pushes the merges that were wished. Nothing is asked before Ready's pauses are
// over. It holds the mirror meanwhile, as a pull does.
func (p *Pusher) Look(ctx context.Context, b ingest.Branch, to func(*store.BranchComponent) Destination) error {
	rows, err := p.rows(ctx, b)
	if err != nil || len(rows) == 0 {
		return err
	}
	l := &look{Pusher: p, branch: b, all: rows, rows: map[string][]*store.BranchComponent{}, to: map[string]Destination{}}
	for i := range rows {
		if d := to(&rows[i]); d.Forge != nil && d.Git != nil {
			key := d.Git("").URL
			l.rows[key], l.to[key] = append(l.rows[key], &rows[i]), d
		}
	}
	if len(l.to) == 0 {
		return p.lookNowhere(ctx, b, rows)
	}
	if err := l.wishes(ctx); err != nil {
		return err
	}
	if may, err := p.mayLook(ctx, b.Key, len(l.wished) > 0); !may {
		return err
	}
	err = p.Syncer.Hold(ctx, b, l.run)
	if ctx.Err() == nil {
		p.afterLook(ctx, b.Key, err)
	}
	if err != nil {
		return fmt.Errorf("requests of others for %s: %w", b.Key, err)
	}
	return nil
}

// lookNowhere removes what an earlier configuration left.
func (p *Pusher) lookNowhere(ctx context.Context, b ingest.Branch, rows []store.BranchComponent) error {
	if p.looks.wait(b.Key, nil).nowhere {
		return nil
	}
	err := p.Syncer.Hold(ctx, b, func(_ context.Context, held *ingest.Held) error { return held.Mirror().ForgetGuests() })
	if err == nil {
		err = p.DB.NoteIncomings(ctx, idsOf(rows), func(int64, catalog.Incomings) (none catalog.Incomings) { return none })
	}
	if err == nil {
		p.looks.wait(b.Key, func(w *lookWait) { *w = lookWait{nowhere: true} })
	}
	return err
}

// look is one look at the requests for a branch.
type look struct {
	*Pusher
	branch ingest.Branch
	all    []store.BranchComponent
	rows   map[string][]*store.BranchComponent // by the address of the forge's repository
	to     map[string]Destination
	wished map[int]*catalog.Incoming

	at    Destination
	base  string      // the branch that is read
	head  object.Hash // its head
	known map[int]*verdict
}

// run looks while the mirror is held.
func (l *look) run(ctx context.Context, held *ingest.Held) error {
	errs := []error{l.wishes(ctx)} // another look may have been running
	if len(l.wished) > 0 {
		_, err := pull(ctx, held)
		errs = append(errs, err)
	}
	for _, key := range slices.Sorted(maps.Keys(l.to)) {
		errs = append(errs, l.forge(ctx, held.Mirror(), key))
	}
	return errors.Join(errs...)
}

// wishes reads what was wished.
func (l *look) wishes(ctx context.Context) error {
	l.wished = map[int]*catalog.Incoming{}
	return l.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		for i := range l.all {
			list, err := snap.Incomings(ctx, l.all[i].ID)
			if err != nil {
				return err
			}
			for k := range list.List {
				if r := &list.List[k]; r.Wished != nil {
					l.wished[r.Number] = r
				}
			}
		}
		return nil
	})
}

// forge looks at the requests of one repository of a forge.
func (l *look) forge(ctx context.Context, mirror *gitsource.Mirror, key string) error {
	rows := l.rows[key]
	l.at, l.base = l.to[key], rows[0].Tracking
	list, more, err := l.at.Forge.List(ctx, l.base)
	if err == nil {
		list, err = l.ofOthers(ctx, rows, list)
	}
	if err != nil {
		return errors.Join(err, l.note(ctx, rows, func(_ *store.BranchComponent, was catalog.Incomings) catalog.Incomings {
			was.Problem, was.Failed = "its forge cannot be asked for open requests", err.Error()
			return was // those that were known stay
		}))
	}
	problem := ""
	if more {
		problem = fmt.Sprintf("there are more than %d open requests; the last changed are looked at", len(list))
	}
	l.known = l.looks.verdicts(l.branch.Key + "\x00" + key)
	told, err := l.judge(ctx, mirror, list)
	problem = cmp.Or(told, problem)
	maps.DeleteFunc(l.known, func(number int, _ *verdict) bool {
		return !slices.ContainsFunc(list, func(r forge.Request) bool { return r.Number == number })
	})
	return errors.Join(err, l.note(ctx, rows, func(row *store.BranchComponent, _ catalog.Incomings) (shown catalog.Incomings) {
		shown.Problem = problem
		for i := range list {
			if v := l.known[list[i].Number]; v != nil && !v.clean && v.Head == list[i].Commit && l.concerns(row, v) {
				shown.List = append(shown.List, v.Incoming)
			}
		}
		return shown
	}))
}

// ofOthers leaves out the requests of this server.
func (l *look) ofOthers(ctx context.Context, rows []*store.BranchComponent, list []forge.Request) ([]forge.Request, error) {
	for _, row := range rows {
		place := placeOf(row)
		if place.Branch == "" {
			continue
		}
		ours, err := l.DB.PushBranches(ctx, place.Repo, place.Branch)
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(r forge.Request) bool {
			return slices.ContainsFunc(ours, func(b store.PushBranch) bool { return b.Request == r.Number || b.At == r.Commit })
		})
	}
	return list, nil
}

// judge finds out about requests that moved since the last time, or whose base did, and merges
// what was wished. What one of them fails with is its problem; told is that of all.
func (l *look) judge(ctx context.Context, mirror *gitsource.Mirror, list []forge.Request) (told string, err error) {
	heads := map[string]object.Hash{}
	for _, r := range list {
		if h, err := object.ParseHash(r.Commit); err == nil && !r.Merges {
			heads[strconv.Itoa(r.Number)] = h
		}
	}
	if len(heads) == 0 {
		return "", mirror.ForgetGuests()
	}
	g, err := mirror.Guests(ctx, heads)
	if errors.Is(err, gitsource.ErrNotFetched) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer g.Close()
	l.head = g.Head().Hash
	bounded, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	for i := range list {
		r := &list[i]
		head, open := heads[strconv.Itoa(r.Number)]
		if !open {
			l.known[r.Number] = &verdict{Incoming: catalog.Incoming{Number: r.Number, Head: r.Commit}, clean: true}
			continue
		}
		v := l.known[r.Number]
		if v == nil || v.Head != r.Commit || v.Into != l.head.String() && v.failures == 0 || !v.again.IsZero() && !l.Now().Before(v.again) {
			now := l.verdictOf(bounded, g, r, head)
			switch {
			case ctx.Err() != nil:
				return "", ctx.Err()
			case bounded.Err() != nil:
				return "there was no time yet to look at all open requests", nil
			case errors.Is(now.err, remote.ErrUnsupported):
				clear(l.known)
				return noMergeTree, nil
			}
			if limit, ok := errors.AsType[*forge.LimitError](now.err); ok {
				return "", limit
			}
			if now.again.IsZero() {
				now.failures = 0
			} else if now.failures = 1; v != nil && v.Head == r.Commit {
				now.failures = v.failures + 1
				now.again = l.Now().Add(pauseAfter(now.failures))
			}
			v = &now.verdict
			l.known[r.Number] = v
		}
		if wish := l.wished[r.Number]; wish != nil && wish.Head == v.Head && !v.clean {
			v.Tried, v.Failed = wish.Wished.At, ""
			if err := l.merge(ctx, g, r.Number, v, wish.Wished); err != nil {
				v.Failed = err.Error()
				l.Logger.Warn("a request cannot be merged", "branch", l.branch.Key, "request", r.Number, "error", err)
			}
		}
	}
	return "", nil
}

// found is a verdict, with what ended the look for it.
type found struct {
	verdict
	err error
}

// verdictOf finds out about one request. A head that cannot be had is tried again.
func (l *look) verdictOf(ctx context.Context, g *gitsource.Guests, r *forge.Request, head object.Hash) (v found) {
	v.Incoming = catalog.Incoming{Number: r.Number, URL: r.URL, Title: r.Title, Head: r.Commit, Into: l.head.String()}
	one, cancel := context.WithTimeout(ctx, headTime)
	defer cancel()
	if err := g.Fetch(one, l.at.Git(""), strconv.Itoa(r.Number), head, maxHead); err != nil {
		v.Problem, v.Failed, v.again = "its head cannot be fetched", err.Error(), l.Now().Add(firstPause)
		return v
	}
	m, err := g.Merge(one, head, isPO)
	if v.clean = m.Clean; v.clean {
		return v
	}
	v.files = map[string]bool{}
	for _, path := range m.Touched {
		v.files[path] = true
	}
	if err == nil {
		_, v.Strings, v.Conflicts, err = mergeFiles(one, g, m.Both)
	}
	if err == nil && v.Conflicts == 0 {
		var now forge.Request
		if now, v.err = l.at.Forge.Read(ctx, r.Number); v.err == nil {
			v.Editable = now.Editable && l.at.Git(now.Repository).URL != "" && now.Repository != ""
		} else {
			err = v.err
		}
	}
	switch {
	case errors.Is(err, remote.ErrUnsupported):
		v.err = err
	case errors.Is(err, gitsource.ErrUnmergeable), errors.Is(err, merge.ErrUnreadable), errors.Is(err, object.ErrTooLarge):
		v.Problem = err.Error()
	case err != nil:
		v.Problem, v.Failed, v.again = "it cannot be merged for now", err.Error(), l.Now().Add(firstPause)
	}
	return v
}

// isPO reports whether a file is merged by meaning.
func isPO(path string) bool { return strings.HasSuffix(path, ".po") || strings.HasSuffix(path, ".pot") }

// mergeFiles merges the files that both sides changed. files are those without a conflict.
func mergeFiles(ctx context.Context, g *gitsource.Guests, both []gitsource.BothChanged) (files []derive.File, strings, conflicts int64, err error) {
	r, err := g.Reader()
	if err != nil {
		return nil, 0, 0, err
	}
	left := int64(maxSides)
	for _, b := range both {
		var sides [3][]byte
		for i, h := range []object.Hash{b.Base, b.Ours, b.Theirs} {
			if h.IsZero() {
				continue // both added it
			}
			if sides[i], err = r.SharedBlob(ctx, h, min(maxSide, max(1, left))); err != nil {
				return nil, 0, 0, fmt.Errorf("%q: %w", b.Path, err)
			}
			left -= int64(len(sides[i]))
		}
		merged, err := merge.Files(sides[0], sides[1], sides[2], merge.Options{})
		if err != nil {
			return nil, 0, 0, fmt.Errorf("%q: %w", b.Path, err)
		}
		strings, conflicts = strings+int64(merged.Strings), conflicts+int64(merged.Conflicts)
		files = append(files, derive.File{Path: b.Path, Data: merged.Data})
	}
	return files, strings, conflicts, nil
}

// merge pushes the merge of a request to its branch, if that is still where it was shown.
func (l *look) merge(ctx context.Context, g *gitsource.Guests, number int, v *verdict, by *catalog.MergeWish) error {
	r, err := l.at.Forge.Read(ctx, number)
	switch {
	case err != nil:
		return err
	case r.State != forge.Open || r.Commit != v.Head || r.Base != l.base:
		return errors.New("the request has changed since: look again")
	case !v.Mergeable() || !r.Editable:
		return errors.New("it cannot be merged any more, or maintainers must not push to its branch")
	}
	to := l.at.Git(r.Repository)
	if to.URL == "" {
		return errors.New("the repository of its branch is gone")
	}
	head, err := object.ParseHash(v.Head)
	if err != nil {
		return err
	}
	m, err := g.Merge(ctx, head, isPO)
	if err != nil {
		return err
	}
	files, count, conflicts, err := mergeFiles(ctx, g, m.Both)
	if err != nil || conflicts > 0 {
		return cmp.Or(err, errors.New("it conflicts"))
	}
	now := l.Now().Truncate(time.Second)
	id, err := g.Push(ctx, derive.Commit{
		Parent: head, Merged: l.head, Tree: m.Tree, Files: files, Signer: l.at.Signer,
		Author: object.Signature{Name: by.Name, Email: by.Email, When: now}, Committer: object.Signature{Name: l.Name, Email: l.Email(), When: now},
		Message: fmt.Sprintf("Merge branch '%s' into %s\n\n%d strings are merged by meaning.\n", r.Base, r.Branch, count),
	}, to, r.Branch)
	if err != nil {
		return err
	}
	l.Logger.Info("a request was merged by meaning", "branch", l.branch.Key, "request", number, "commit", id.String(), "strings", count)
	v.clean = true
	return nil
}

// note stores what the components show. One beside private ones of another project shows
// nothing: a request may be about theirs.
func (l *look) note(ctx context.Context, rows []*store.BranchComponent, of func(*store.BranchComponent, catalog.Incomings) catalog.Incomings) error {
	ids := catalog.Each(rows, func(row **store.BranchComponent) int64 { return (*row).ID })
	return l.DB.NoteIncomings(ctx, ids, func(id int64, was catalog.Incomings) (none catalog.Incomings) {
		row := rows[slices.Index(ids, id)]
		if slices.ContainsFunc(l.all, func(o store.BranchComponent) bool {
			return o.ProjectID != row.ProjectID && o.Settings.Private(&o.Project)
		}) {
			return none
		}
		return of(row, was)
	})
}

// concerns reports whether a request changes a file of a component, or may.
func (l *look) concerns(row *store.BranchComponent, v *verdict) bool {
	if v.files == nil || v.files[row.Settings.NewBase] && !row.Settings.TemplateElsewhere() {
		return true
	}
	for path := range v.files {
		if _, is := l.Syncer.FileCode(row, path); is {
			return true
		}
	}
	return false
}
