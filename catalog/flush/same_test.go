package flush

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// chainOf has edits of 9 authors in 5 languages, whose files wrap their lines in different
// ways, with plurals, needing editing, corrected, in conflict and away.
func chainOf() (files []File, tree gittest.Files) {
	tree = gittest.Files{"README": "x", "po/LINGUAS": "0 1"}
	for l := range 5 {
		f := File{Component: "c", Language: fmt.Sprint(l), Path: fmt.Sprintf("po/%d.po", l), Options: edit.Options{Forms: 2, Gate: l == 1}}
		nl := []string{"\n", "\r\n", "\n", "\n", "\n"}[l]
		text := "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Last-Translator: X <x@y>\\n\"\n\"PO-Revision-Date: 2020-01-01 00:00+0000\\n\"\n\"Plural-Forms: nplurals=2; plural=n != 1;\\n\"\n"
		if l != 3 {
			f.Options.Revision = start
		}
		for i := range 60 {
			id := fmt.Sprintf("String number %d of the program, which is long enough to be wrapped somewhere", i)
			text += "\n#: a.c:1\n"
			if i%4 == 1 {
				text += "#, fuzzy\n#| msgid \"before\"\n"
			}
			switch {
			case l == 2:
				text += fmt.Sprintf("msgid \"%s\"\n", id)
			default:
				text += fmt.Sprintf("msgid \"\"\n\"%s\"\n", id)
			}
			source := id
			if i%5 == 2 {
				source, text = id+"\x1e\x1e"+id+"s", text+"msgid_plural \""+id+"s\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n"
			} else {
				text += "msgstr \"\"\n"
			}
			ours := fmt.Sprintf("The translation of the string %d into the language %d, which has some length as well.\nAnd a line.", i, l)
			if i%5 == 2 {
				ours += "\x1e\x1e" + ours
			}
			author := by(fmt.Sprint("Author ", i%9), i*5+l)
			e := edit.Edit{Source: source, Ours: edit.Text{Target: ours, State: done}, Authors: []edit.Author{author}}
			switch {
			case i%11 == 3:
				e.Base.Target, e.Base.State = "another", done
			case i%11 == 5:
				e.Source += " away"
			case i%11 == 7:
				e.Authors = append([]edit.Author{by("Earlier", 1)}, author)
			}
			f.Edits = append(f.Edits, e)
		}
		if nl != "\n" {
			text = strings.ReplaceAll(text, "\n", nl)
		}
		tree[f.Path] = text
		files = append(files, f)
	}
	return files, tree
}

// TestSameCommits: the same input gives the same commits as it always has.
func TestSameCommits(t *testing.T) {
	up := gittest.NewUpstream[object.Hash](t)
	files, tree := chainOf()
	up.Push("A", tree)
	m := mirrorOf(t, up)
	for commitBy, want := range map[string]string{
		"author+language": "cb57288093549169cec3395514a019bd409024ce",
		"all":             "a1fa8f4b773d759eddc61c5913d44ea0a559c9a3",
	} {
		result := derived(t, m, files, Options{Styles: styles(Style{By: commitBy, SignOff: true})})
		if got := result.Head.String(); got != want {
			t.Errorf("%s: %s after %d commits, want %s", commitBy, got, len(result.Commits), want)
		}
	}
}

// TestMemo: on another head the same commits are made with a Memo as without, of what it
// knows where the file was not touched, also after a flush that was stopped, and after a
// mirror that was cloned anew.
func TestMemo(t *testing.T) {
	up := gittest.NewUpstream[object.Hash](t)
	files, tree := chainOf()
	head := up.Push("A", tree)
	m := mirrorOf(t, up)
	var memo Memo
	ctx, stop := context.WithCancel(t.Context())
	w, err := m.Writer(ctx)
	gittest.Must(t, err)
	n := 0
	_, err = Derive(ctx, w, files, Options{Committer: committer, Memo: &memo, Message: func(Group) string {
		if n++; n == 20 {
			stop()
		}
		return ""
	}})
	w.Close()
	if !errors.Is(err, context.Canceled) || len(memo.known) < 15 {
		t.Fatalf("stopped with %d steps known: %v", len(memo.known), err)
	}
	same := func(when string, fresh int) {
		t.Helper()
		before := len(memo.known)
		got, want := derived(t, m, files, Options{Memo: &memo}), derived(t, m, files, Options{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", when, diff)
		}
		if made := len(memo.known) - before; fresh >= 0 && made != fresh {
			t.Errorf("%s: %d steps were made, want %d", when, made, fresh)
		}
		path, _ := m.Path()
		gittest.RunGit(t, path, "fsck", "--strict", "--no-dangling")
	}
	same("after it was stopped", 45-len(memo.known))
	push := func(path, text string) {
		tree[path] = text
		head = up.Push("B", tree, head)
		_, err := m.Fetch(t.Context())
		gittest.Must(t, err)
	}
	push("README", "other")
	same("another file", 0)
	push("po/2.po", tree["po/2.po"]+"\nmsgid \"new\"\nmsgstr \"\"\n")
	same("one of the files", 9)
	_, err = m.Rebuild(t.Context())
	gittest.Must(t, err)
	same("cloned anew", 0)
}
