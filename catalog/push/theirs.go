package push

import (
	"context"

	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

// isRenewed reports whether the tip of our branch has nothing but what we put there and what
// the branch that is read has: a forge's button merged that into ours, or made our commits
// anew on it. Whatever its commits are, nobody's work is lost then if it is replaced.
func (r *run) isRenewed(ctx context.Context, tip object.Hash) (bool, error) {
	mirror := r.held.Mirror()
	if err := mirror.Bring(ctx, r.group.to.Repository, object.Head{Hash: tip, Branch: r.known.Branch}); err != nil {
		return false, err
	}
	reader, err := mirror.Reader(ctx)
	if err != nil {
		return false, err
	}
	defer reader.Close()
	for _, at := range []string{r.known.At, r.known.Next} {
		ours, err := object.ParseHash(at)
		if err != nil || !reader.Has(ours) {
			continue
		}
		if only, err := onlyOf(ctx, reader, tip, ours); only || err != nil {
			return only, err
		}
	}
	return false, nil
}

// onlyOf compares the files of a commit with those of ours and of the branch that is read.
func onlyOf(ctx context.Context, reader *gitsource.Reader, tip, ours object.Hash) (bool, error) {
	theirBase, ok, err := baseOf(ctx, reader, tip)
	if !ok || err != nil {
		return false, err
	}
	ourBase, ok, err := baseOf(ctx, reader, ours)
	if !ok || err != nil {
		return false, err
	}
	var at [3]map[string]gitsource.Change // by path: what we wrote, what was read since, the tip
	for i, between := range [][2]object.Hash{{ourBase, ours}, {ourBase, theirBase}, {theirBase, tip}} {
		step, err := reader.Between(ctx, between[0], between[1], filemask.Matcher{})
		if err != nil {
			return false, err
		}
		at[i] = make(map[string]gitsource.Change, len(step.Changes))
		for _, ch := range step.Changes {
			at[i][ch.Path] = ch
		}
	}
	for path := range at[2] {
		if _, touched := at[0][path]; !touched {
			return false, nil
		}
	}
	for path, our := range at[0] {
		read, now := our.Old, our.Old
		if ch, moved := at[1][path]; moved {
			read, now = ch.New, ch.New
		}
		if ch, differs := at[2][path]; differs {
			now = ch.New
		}
		if merged, err := isMerge(ctx, reader, now, our.Old, our.New, read); !merged || err != nil {
			return false, err
		}
	}
	return true, nil
}

// isMerge is edit.IsMerge of the contents of blobs. A file that one side lacks is what the
// other one made of it.
func isMerge(ctx context.Context, reader *gitsource.Reader, now, base, our, read object.Hash) (bool, error) {
	switch {
	case read == base, read == our:
		return now == our, nil
	case now.IsZero(), base.IsZero(), our.IsZero(), read.IsZero():
		return false, nil
	}
	var files [4][]byte
	for i, blob := range []object.Hash{now, base, our, read} {
		data, err := reader.Blob(ctx, blob, maxRenewed)
		if err != nil {
			return false, err
		}
		files[i] = data
	}
	return edit.IsMerge(files[0], files[1], files[2], files[3]), nil
}

// maxRenewed bounds the files that are compared.
const maxRenewed = 64 << 20

// baseOf returns the newest commit of the branch that is read which a commit is made on;
// false if there is no such one.
func baseOf(ctx context.Context, reader *gitsource.Reader, commit object.Hash) (object.Hash, bool, error) {
	bases, err := reader.Bases(ctx, commit)
	if err != nil {
		return object.Hash{}, false, err
	}
	for _, base := range bases {
		newest := true
		for _, other := range bases {
			if newest {
				if newest, err = reader.IsAncestor(ctx, other, base); err != nil {
					return object.Hash{}, false, err
				}
			}
		}
		if newest {
			return base, true, nil
		}
	}
	return object.Hash{}, false, nil
}
