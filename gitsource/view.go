package gitsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

// State is what files are read at: a commit, and if some files are from elsewhere, the
// commit there; zero: that has none yet.
type State struct{ Commit, Elsewhere object.Hash }

// String is the commit, with that of elsewhere after a plus sign if there is one.
func (s State) String() string {
	if s.Elsewhere.IsZero() {
		return s.Commit.String()
	}
	return s.Commit.String() + "+" + s.Elsewhere.String()
}

// ParseState reads what String returns.
func ParseState(text string) (s State, err error) {
	commit, elsewhere, also := strings.Cut(text, "+")
	if s.Commit, err = object.ParseHash(commit); err == nil && also {
		s.Elsewhere, err = object.ParseHash(elsewhere)
	}
	return s, err
}

// View reads a repository in which some files are from elsewhere: files of another
// repository or branch, under the same path, take the place of its own.
type View struct {
	*Reader
	other *Reader // nil: nothing is from elsewhere
	paths map[string]bool
}

// otherCache bounds the bytes of inflated objects of elsewhere, where few files are read.
const otherCache = 8 << 20

// With returns a view in which the files at some paths are another reader's, which it closes.
func (r *Reader) With(other *Reader, paths map[string]bool) *View {
	if other != nil {
		other.LimitCache(otherCache)
	}
	return &View{r, other, paths}
}

// Close closes both readers.
func (v *View) Close() error {
	err := v.Reader.Close()
	if v.other != nil {
		err = errors.Join(err, v.other.Close())
	}
	return err
}

// Elsewhere is the commit of elsewhere when the view was opened.
func (v *View) Elsewhere() object.Hash { return v.other.Head().Hash }

// of returns the reader that has an object.
func (v *View) of(h object.Hash) *Reader {
	if v.other != nil && !v.Reader.Has(h) {
		return v.other
	}
	return v.Reader
}

// Size is that of Reader.
func (v *View) Size(ctx context.Context, h object.Hash) (int64, error) { return v.of(h).Size(ctx, h) }

// SharedBlob is that of Reader.
func (v *View) SharedBlob(ctx context.Context, h object.Hash, limit int64) ([]byte, error) {
	return v.of(h).SharedBlob(ctx, h, limit)
}

// Mailmap is that of Reader.
func (v *View) Mailmap(ctx context.Context, commit object.Hash) (object.Mailmap, error) {
	return v.of(commit).Mailmap(ctx, commit)
}

// HasState reports whether both mirrors have the commits of a state.
func (v *View) HasState(s State) bool { return v.Has(s.Commit) && v.HasElsewhere(s) }

// HasElsewhere is HasState for the commit of elsewhere alone.
func (v *View) HasElsewhere(s State) bool {
	return s.Elsewhere.IsZero() || v.other != nil && v.other.Has(s.Elsewhere)
}

// mine and theirs are the parts of a matcher for the two readers.
func (v *View) mine(m filemask.Matcher) filemask.Matcher {
	return filemask.Matcher{Want: func(p string) bool { return !v.paths[p] && m.Selects(p) }, Prune: m.Prune}
}

func (v *View) theirs(m filemask.Matcher) filemask.Matcher {
	var paths []string
	for p := range v.paths {
		if m.Selects(p) {
			paths = append(paths, p)
		}
	}
	return filemask.NewMatcher(nil, paths...)
}

// Snapshot is that of Reader for a state.
func (v *View) Snapshot(ctx context.Context, at State, m filemask.Matcher) ([]object.File, error) {
	own := v.mine(m)
	list, err := v.Reader.Snapshot(ctx, at.Commit, own.Want, own.Prune)
	if err != nil || at.Elsewhere.IsZero() {
		return list, err
	}
	their := v.theirs(m)
	others, err := v.other.Snapshot(ctx, at.Elsewhere, their.Want, their.Prune)
	list = append(list, others...)
	slices.SortFunc(list, func(a, b object.File) int { return cmp.Compare(a.Path, b.Path) })
	return list, err
}

// Steps is that of Reader, from one state to another. Each step is of one repository. A
// commit of elsewhere comes before one of the repository if it is not younger by its
// committer time; those before the first commit of all come right after it.
func (v *View) Steps(ctx context.Context, from, to State, m filemask.Matcher) iter.Seq2[Step, error] {
	if v.other == nil {
		return v.Reader.Steps(ctx, from.Commit, to.Commit, m)
	}
	return func(yield func(Step, error) bool) {
		mine, stop := iter.Pull2(v.Reader.Steps(ctx, from.Commit, to.Commit, v.mine(m)))
		defer stop()
		theirs, stopTheirs := iter.Pull2(v.other.Steps(ctx, from.Elsewhere, to.Elsewhere, v.theirs(m)))
		defer stopTheirs()
		a, err, more := mine()
		b, theirErr, moreTheirs := theirs()
		at, done, doneThere, total := from, 0, 0, 0
		for more || moreTheirs {
			if err = errors.Join(err, theirErr); err != nil {
				yield(Step{}, err)
				return
			}
			total = max(total, a.Total+b.Total)
			var step Step
			if moreTheirs && (!more || !at.Commit.IsZero() && !a.Commit.Committer.When.Before(b.Commit.Committer.When)) {
				step, at.Elsewhere, doneThere = b, b.Commit.Hash, b.Position
				b, theirErr, moreTheirs = theirs()
			} else {
				step, at.Commit, done = a, a.Commit.Hash, a.Position
				a, err, more = mine()
			}
			step.At, step.Position, step.Total = at, done+doneThere, total
			if !yield(step, nil) {
				return
			}
		}
	}
}

// FirstParents is that of Reader; files from elsewhere are as they were there at the time.
func (v *View) FirstParents(ctx context.Context, from State) iter.Seq2[FirstParent, error] {
	if v.other == nil || from.Elsewhere.IsZero() {
		return v.Reader.FirstParents(ctx, from.Commit)
	}
	return func(yield func(FirstParent, error) bool) {
		chain, err := chainOf(v.Reader.FirstParents(ctx, from.Commit))
		others, theirErr := chainOf(v.other.FirstParents(ctx, from.Elsewhere))
		if err = errors.Join(err, theirErr); err != nil {
			yield(FirstParent{}, fmt.Errorf("walk first parents of %s: %w", from, err))
			return
		}
		next := len(others)
		for i, c := range slices.Backward(chain) {
			for ; next > 0 && !others[next-1].When.After(c.When); next-- {
				chain[i].Elsewhere = others[next-1].Hash
			}
			if chain[i].Elsewhere.IsZero() && i+1 < len(chain) {
				chain[i].Elsewhere = chain[i+1].Elsewhere
			}
		}
		chain[0].Elsewhere = from.Elsewhere
		for _, c := range chain {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func chainOf(walk iter.Seq2[FirstParent, error]) (list []FirstParent, err error) {
	for link, err := range walk {
		if err != nil {
			return nil, err
		}
		list = append(list, link)
	}
	return list, nil
}
