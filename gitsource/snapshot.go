package gitsource

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// File is one entry of a commit's tree.
type File struct {
	// Path from the root of the repository, with slashes. Bytes that are not fit
	// for a path (see [CheckPath], which refuses it then) are written \xNN.
	Path string
	// Blob is the id of the contents (decision 12); of a symlink, of its text.
	Blob Hash
	// Link is the text of a symlink; empty for a file.
	Link string
	// Target is the path inside the repository that Link leads to; empty for a
	// file, and where the link leaves the repository.
	Target string
}

// Matcher selects paths. The zero value selects every file.
type Matcher struct {
	// Want reports whether a file is wanted; nil: all are.
	Want func(path string) bool
	// Prune reports that nothing below a directory is wanted; nil: none is
	// pruned. It only saves work.
	Prune func(dir string) bool
}

func (m Matcher) want(p string) bool  { return m.Want == nil || m.Want(p) }
func (m Matcher) prune(d string) bool { return m.Prune != nil && m.Prune(d) }

const (
	maxDepth   = 100       // directories within directories; the deepest real trees have some 30
	maxVisited = 5_000_000 // entries looked at in one walk: trees can name the same subtree many times
	maxPath    = 4096
	maxWalked  = 4 * maxPath // longer ones are not walked; in between they are reported
	maxLink    = 4096
)

// visits counts the entries of one walk.
type visits int

func (v *visits) add(ctx context.Context, n int) error {
	*v += visits(n)
	if *v > maxVisited {
		return fmt.Errorf("more than %d directory entries: %w; narrow the filemask", maxVisited, ErrTooLarge)
	}
	return ctx.Err()
}

// Snapshot lists the files of a commit that want selects, sorted by path,
// without reading them. Directories that prune reports are not entered; both
// may be nil. Submodules are left out. Symlinks are listed with their target; [WithoutLinks] drops
// them.
func (r *Reader) Snapshot(ctx context.Context, commit Hash, want func(path string) bool, prune func(dir string) bool) ([]File, error) {
	n, err := r.node(commit)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	w := snapshotWalk{r: r, m: Matcher{Want: want, Prune: prune}}
	if err := w.dir(ctx, n.tree, "", 0); err != nil {
		return nil, fmt.Errorf("list files of commit %s: %w", commit, err)
	}
	slices.SortFunc(w.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return w.files, nil
}

type snapshotWalk struct {
	r     *Reader
	m     Matcher
	v     visits
	files []File
}

func (w *snapshotWalk) dir(ctx context.Context, tree Hash, prefix string, depth int) error {
	list, err := w.r.tree(tree)
	if err != nil {
		return err
	}
	if err := w.v.add(ctx, len(list)+1); err != nil {
		return err
	}
	for _, e := range list {
		p := prefix + e.name
		switch e.kind {
		case kindTree:
			if depth < maxDepth && len(p) < maxWalked && !w.m.prune(p) {
				err = w.dir(ctx, e.hash, p+"/", depth+1)
			}
		case kindFile, kindLink:
			if w.m.want(p) {
				err = w.file(e, p)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *snapshotWalk) file(e treeEntry, p string) error {
	f := File{Path: p, Blob: e.hash}
	if e.kind == kindLink {
		text, err := w.r.objects.read(e.hash, plumbing.BlobObject, maxLink)
		if errors.Is(err, ErrTooLarge) {
			return nil // no system can check it out either
		}
		if err != nil {
			return objectError("symlink "+p, e.hash, err)
		}
		f.Link, f.Target = string(text), linkTarget(p, string(text))
		if f.Link == "" {
			return nil // git cannot check it out either
		}
	}
	w.files = append(w.files, f)
	return nil
}

// linkTarget resolves a symlink's text against the directory it stands in.
func linkTarget(link, text string) string {
	if path.IsAbs(text) || strings.ContainsRune(text, 0) {
		return ""
	}
	target := path.Join(path.Dir(link), text)
	if target == ".." || strings.HasPrefix(target, "../") {
		return ""
	}
	return target
}

// WithoutLinks splits a snapshot into its files and its symlinks. Links are
// never read: one whose target is also matched is a duplicate (facts §2), and
// one that leads elsewhere would change without its own entry changing, so
// that a pull would miss what a fresh import sees. Steps leaves them out too.
func WithoutLinks(files []File) (regular, links []File) {
	for _, f := range files {
		if f.Link == "" {
			regular = append(regular, f)
		} else {
			links = append(links, f)
		}
	}
	return regular, links
}
