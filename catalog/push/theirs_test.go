package push_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// TestUpdatedBranch: a forge's button merges the branch that is read into that of an open
// request, or makes its commits anew on it, and the next push goes on. Work of somebody else
// in such a commit is kept.
func TestUpdatedBranch(t *testing.T) {
	for how, foreign := range map[string]bool{
		"merged": false, "rebased": false, "merged with another text": true, "merged with another file": true, "merged without a string": true, "merged with a note": true,
		"merged, and a text taken back": true, "a text taken back": true,
	} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushRequest}})
			w.to.Forge = &fakeForge{}
			to := func(*store.BranchComponent) push.Destination { return w.to }
			w.edit("One", "Jedna")
			w.flush()
			ours := w.head("l10n")
			sent := gittest.RunGit(t, w.up.Dir, "cat-file", "blob", "l10n:po/cs.po") + "\n"
			// Somebody pushes to the branch that is read, also to our file.
			moved := strings.Replace(file, "msgid \"Two\"", "#. Extracted since\nmsgid \"Two\"", 1)
			merged := strings.Replace(sent, "msgid \"Two\"", "#. Extracted since\nmsgid \"Two\"", 1)
			if moved == file || merged == sent {
				t.Fatalf("nothing is changed in %q", file)
			}
			main := w.up.Push("Other", gittest.Files{"po/cs.po": moved, "other": "code"}, w.head("main"))
			files := gittest.Files{"po/cs.po": merged, "other": "code"}
			switch how {
			case "merged with another text":
				files["po/cs.po"] = strings.Replace(merged, "Jedna", "Jednou", 1)
			case "merged with another file":
				files["more"] = "work"
			case "merged without a string":
				files["po/cs.po"], _, _ = strings.Cut(merged, "#. Extracted since")
			case "merged with a note":
				files["po/cs.po"] = strings.Replace(merged, "msgid \"One\"", "# Not sure.\nmsgid \"One\"", 1)
			case "merged, and a text taken back":
				files["po/cs.po"] = moved
			case "a text taken back":
				files["po/cs.po"] = file
			}
			parents := []object.Hash{ours, main}
			if how == "a text taken back" {
				parents = parents[:1]
			}
			if how == "rebased" {
				parents = parents[1:]
			}
			tip := w.up.Commit("Other", files, parents...)
			w.up.Set("l10n", tip)
			w.edit("Two", "Dva")
			_, err := w.pusher.Flush(t.Context(), w.Branch, to)
			if foreign {
				if !errors.Is(err, push.ErrForeign) || w.head("l10n") != tip {
					t.Errorf("it was overwritten: %v", err)
				}
				return
			}
			gittest.Must(t, err)
			w.want("Jedna* Dva* | pending, pending", "after")
			if parent := gittest.RunGit(t, w.up.Dir, "rev-parse", "l10n~1"); parent != w.head("main").String() {
				t.Errorf("the branch is on %s", parent)
			}
			now := gittest.RunGit(t, w.up.Dir, "cat-file", "blob", "l10n:po/cs.po")
			for _, text := range []string{"Jedna", "Dva", "Extracted since"} {
				if !strings.Contains(now, text) {
					t.Errorf("no %q in %s", text, now)
				}
			}
		})
	}
}
