package push

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
)

// keyBranch is the branch of the request of an edit of a component, by its language and its
// last author. It is push_branch, or below it: PROJECT/COMPONENT, the language, or a hash of
// the author, since addresses are in commits only. Different keys have different branches.
func keyBranch(row *store.BranchComponent, language string, author edit.Author) string {
	base := BranchOf(row)
	switch per := row.Settings.Edits.RequestPer; {
	case row.Settings.Edits.Mode != catalog.PushRequest || row.Settings.PushBranch == "":
		return base
	case per == catalog.PerComponent:
		return base + "/" + row.Project.Slug + "/" + row.Slug
	case per == catalog.PerLanguage:
		return base + "/" + refPart(language)
	case per == catalog.PerAuthor:
		sum := sha256.Sum256([]byte(author.Name + "\x00" + author.Email))
		return base + "/" + hex.EncodeToString(sum[:8])
	}
	return base
}

// refPart is a text as a part of the name of a branch: what git might refuse is written as
// the code of its bytes, and so are different texts differently.
func refPart(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '@', c == '-' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02x", c)
		}
	}
	return b.String()
}

// takes reports whether an edit goes to the branch of the group.
func (g *group) takes(row *store.BranchComponent, language string, author edit.Author) bool {
	return !g.keyed || keyBranch(row, language, author) == g.branch
}

// flushKeys flushes the group: for requests, one branch after the other. What one of them
// fails with does not stop the others, but a forge that wants no more requests does.
func (r *run) flushKeys(ctx context.Context) error {
	if r.group.mode != catalog.PushRequest {
		return r.try(ctx)
	}
	branches, err := r.keyBranches(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, branch := range branches {
		g := *r.group
		g.branch, g.keyed, g.rows = branch, true, slices.Clone(g.rows)
		one := &run{Pusher: r.Pusher, held: r.held, branch: r.branch, head: r.head, group: &g, report: r.report}
		err := one.try(ctx)
		errs, r.kept, r.failed = append(errs, err), append(r.kept, one.kept...), append(r.failed, one.failed...)
		if _, ok := errors.AsType[*forge.LimitError](err); ok {
			break
		}
	}
	return errors.Join(errs...)
}

// keyBranches returns the branches of the group's requests: first those that have nothing
// left, which are withdrawn so that no name is in the way of another one, then those that
// pending edits go to.
func (r *run) keyBranches(ctx context.Context) ([]string, error) {
	pending := map[string]bool{}
	err := r.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		return catalog.Try(r.group.rows, func(row *store.BranchComponent) error { return keysOf(ctx, snap, row, pending) })
	})
	if err != nil {
		return nil, err
	}
	known, err := r.DB.PushBranches(ctx, r.repository().String(), r.group.branch)
	if err != nil {
		return nil, err
	}
	var branches []string
	for i := range known {
		if !pending[known[i].Branch] {
			branches = append(branches, known[i].Branch)
		}
	}
	return append(branches, slices.Sorted(maps.Keys(pending))...), nil
}

// keysOf notes the branches that pending edits of a component go to.
func keysOf(ctx context.Context, snap *store.Snapshot, row *store.BranchComponent, branches map[string]bool) error {
	files, err := snap.PendingFiles(ctx, row.ID)
	if err != nil {
		return err
	}
	for i := range files {
		if files[i].Kind == store.EditTemplate {
			continue
		}
		branches[keyBranch(row, files[i].Language, files[i].Last())] = true
	}
	edits, err := snap.PendingTexts(ctx, row.ID)
	if err != nil || len(edits) == 0 {
		return err
	}
	translations, err := snap.Translations(ctx, row.ID)
	byID := catalog.ByKey(translations, translationID)
	for i := range edits {
		if t := byID[edits[i].TranslationID]; t != nil {
			branches[keyBranch(row, t.Language, edits[i].Last())] = true
		}
	}
	return err
}

func translationID(t *catalog.Translation) int64 { return t.ID }

// about says what tells the request from the others of its push_branch, for its title; ""
// if the message does. Addresses are in commits only.
func (r *run) about() string {
	settings := &r.group.rows[0].Settings
	if settings.PushBranch == "" || len(r.edits)+len(r.ofFiles) == 0 {
		return ""
	}
	var code string
	var one *store.Edit
	if len(r.edits) > 0 {
		code, one = r.files[0].Language, &r.edits[0][0]
	} else {
		code, one = r.ofFiles[0].Language, &r.ofFiles[0]
	}
	switch name := one.Last().Name; {
	case settings.Edits.RequestPer == catalog.PerAuthor && !strings.Contains(name, "@"):
		return name
	case settings.Edits.RequestPer == catalog.PerLanguage:
		if l, ok := r.Languages.ByCode(code); ok {
			return l.Name
		}
		return code
	}
	return ""
}
