package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse/diff"
	"github.com/repoglot/repoglot/poparse/merge"
)

// The bounds of a comparison.
const (
	compareTime   = 2 * time.Second
	compareFiles  = 200
	compareBytes  = 128 << 20                // of all versions
	compareMemory = 32 << 20                 // of one file at least; where there is more memory what a small step may hold
	compareAlike  = merge.DefaultComparisons // of strings with others, in all files
	compareListed = 10_000                   // strings that are listed; all are counted
	compareCache  = 8 << 20
	compareCores  = 2  // that one comparison uses for the time that it may take
	textFactor    = 10 // what long texts take in multiples of their length, beside their entries
)

// Errors of Compare besides catalog.ErrNotFound and gitsource.ErrWalking.
var (
	// ErrNoMirror says that this process has no mirror of the branch, or one without the
	// component's head: it was not pulled yet, or another process pulls it.
	ErrNoMirror = errors.New("no mirror of the branch with the component's head")
	// ErrCompareBound wraps which bound a comparison would exceed.
	ErrCompareBound = errors.New("these commits cannot be compared")
)

// Compare tells what differs between the files of a component at two commits, which are full
// ids: the files that it serves, its template included unless that is from elsewhere. The
// error is catalog.ErrNotFound unless the component's head reaches both, whether the mirror
// has them or not. Checks returns the quality checks of a language, for diff.Options; nil: none.
func (s *Syncer) Compare(ctx context.Context, row *store.ComponentRow, from, to string, checks func(language string) diff.Checks) (*diff.Report, error) {
	key := BranchKey(row.Repo, row.Branch)
	m := s.Shown(key)
	head, err := object.ParseHash(row.Head)
	if m == nil || err != nil {
		return nil, ErrNoMirror
	}
	old, badFrom := object.ParseHash(from)
	cur, badTo := object.ParseHash(to)
	within, cancel := context.WithTimeout(ctx, s.compareTime)
	defer cancel()
	reached, err := s.histories.Reach(within, m.Reader, key, head, old, cur)
	if err == nil && (!reached || badFrom != nil || badTo != nil) {
		return nil, catalog.ErrNotFound
	}
	var report *diff.Report
	if err == nil {
		report, err = s.compare(within, m, row, old, cur, checks)
	}
	switch {
	case errors.Is(err, object.ErrUnknownCommit), errors.Is(err, gitsource.ErrNotFetched):
		return nil, fmt.Errorf("%w: %w", ErrNoMirror, err)
	case errors.Is(err, object.ErrTooLarge):
		return nil, fmt.Errorf("%w: %w", ErrCompareBound, err)
	case err != nil && ctx.Err() == nil && within.Err() != nil && !errors.Is(err, gitsource.ErrWalking):
		return nil, fmt.Errorf("%w: it takes more than %s", ErrCompareBound, s.compareTime)
	}
	return report, err
}

func (s *Syncer) compare(ctx context.Context, m *gitsource.Mirror, row *store.ComponentRow, from, to object.Hash, checks func(language string) diff.Checks) (*diff.Report, error) {
	r, err := m.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.LimitCache(compareCache)
	c, err := newComponent(store.BranchComponent{Component: row.Component, Project: row.Project}, s.Languages)
	if err != nil {
		return nil, err
	}
	elsewhere := row.Settings.TemplateElsewhere() // the file of its path is not served
	want := func(path string) bool { return c.selection.wants(path) && !(elsewhere && path == row.Settings.NewBase) }
	changes, err := r.Changed(ctx, from, to, filemask.Matcher{Want: want, Prune: matcher([]*component{c}).Prune})
	if err != nil {
		return nil, err
	}
	if len(changes) > compareFiles {
		return nil, fmt.Errorf("%w: %d files differ, and at most %d are compared", ErrCompareBound, len(changes), compareFiles)
	}
	memory := max(s.memory.small, compareMemory)
	files, bytes, budget := make([]diff.File, len(changes)), 0, semaphore.NewWeighted(memory)
	work, working := errgroup.WithContext(ctx)
	work.SetLimit(compareCores)
	err = func() error {
		for i, ch := range changes {
			o := diff.Options{Group: row.Settings.Filemask, Template: ch.Path == row.Settings.NewBase, Comparisons: max(compareAlike/len(changes), 1)}
			if !o.Template {
				o.Language, _ = c.selection.code(ch.Path)
				if checks != nil {
					o.Checks = checks(o.Language)
				}
			}
			var versions [2][]byte
			takes := int64(0)
			for v, blob := range []object.Hash{ch.Old, ch.New} {
				if !blob.IsZero() {
					versions[v], err = r.SharedBlob(ctx, blob, min(s.MaxFileSize, memory/textFactor))
					size := fileBytes(versions[v])
					if takes+size > memory/2 {
						size = exactBytes(versions[v], entryBytes)
					}
					takes += size + textFactor*int64(len(versions[v]))
					bytes += len(versions[v])
				}
				if err == nil && takes > memory {
					err = fmt.Errorf("more than %d MiB of memory: %w", memory>>20, object.ErrTooLarge)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", ch.Path, err)
				}
			}
			if bytes > compareBytes {
				return fmt.Errorf("%w: the files that differ have more than %d MiB", ErrCompareBound, compareBytes>>20)
			}
			if err := budget.Acquire(working, takes); err != nil {
				return err
			}
			work.Go(func() (err error) {
				defer budget.Release(takes)
				defer func() { // a file must not end the process
					if p := recover(); p != nil {
						err = fmt.Errorf("compare %s: panic: %v", ch.Path, p)
					}
				}()
				files[i] = diff.Files(ch.Path, versions[0], versions[1], o)
				return ctx.Err()
			})
		}
		return nil
	}()
	if err := cmp.Or(work.Wait(), err); err != nil {
		return nil, err
	}
	report := diff.New(files, compareListed)
	report.Base, report.Head = from.String(), to.String()
	return &report, nil
}

// Subjects adds the first lines of the messages of commits of a component's branch, without
// addresses, to a map by id. What the mirror of this process does not have is left out.
func (s *Syncer) Subjects(ctx context.Context, row *store.ComponentRow, ids []string, into map[string]string) error {
	r := s.reader(ctx, row)
	if r == nil {
		return ctx.Err()
	}
	defer r.Close()
	for _, id := range ids {
		h, err := object.ParseHash(id)
		if err != nil {
			continue
		}
		if c, err := r.Commit(ctx, h); err == nil {
			shown := catalog.NewCommit(catalog.Commit{Message: c.Message})
			into[id] = shown.Summary()
		}
	}
	return ctx.Err()
}

// reader opens the mirror of a component's branch for little; nil if this process has none.
func (s *Syncer) reader(ctx context.Context, row *store.ComponentRow) *gitsource.Reader {
	m := s.Shown(BranchKey(row.Repo, row.Branch))
	if m == nil {
		return nil
	}
	r, err := m.Reader(ctx)
	if err != nil {
		return nil // there is no mirror yet
	}
	r.LimitCache(compareCache)
	return r
}

// maxCodeFile bounds the files of code that are read, in bytes.
const maxCodeFile = 1 << 20

// Code reads the first of some files that the component's commit has, as text; "" without one, or
// if this process does not have the commit. Symlinks, submodules, files of more than a mebibyte
// and those with NUL are not read.
func (s *Syncer) Code(ctx context.Context, row *store.ComponentRow, paths []string) (text string, err error) {
	r := s.reader(ctx, row)
	if r == nil {
		return "", ctx.Err()
	}
	defer r.Close()
	head, err := object.ParseHash(row.Head)
	if err != nil {
		return "", nil // it is being read again
	}
	want := func(file string) bool { return slices.Contains(paths, file) }
	prune := func(dir string) bool {
		return !slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") })
	}
	files, err := r.Snapshot(ctx, head, want, prune)
	if err != nil {
		return "", ctx.Err() // the mirror does not have the commit
	}
	for _, p := range paths {
		if f := catalog.Find(files, func(f *object.File) bool { return f.Path == p }); f != nil {
			data, err := r.SharedBlob(ctx, f.Blob, maxCodeFile)
			if err != nil || bytes.IndexByte(data, 0) >= 0 {
				return "", ctx.Err()
			}
			return strings.ToValidUTF8(string(data), "\uFFFD"), nil
		}
	}
	return "", nil
}
