package flush

import (
	"context"
	"fmt"
	"testing"

	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// BenchmarkChain flushes edits of many authors, each in a commit of their own, to a local
// repository.
func BenchmarkChain(b *testing.B) {
	for _, size := range []struct{ authors, languages, strings int }{{20, 14, 1400}, {30, 10, 20_000}} {
		b.Run(fmt.Sprintf("commits=%d/strings=%d", size.authors*size.languages, size.strings), func(b *testing.B) {
			gittest.NeedGit(b)
			up := gittest.NewUpstream[object.Hash](b)
			tree := gittest.Files{}
			files := make([]File, size.languages)
			for l := range files {
				var pairs []string
				for i := range size.strings {
					pairs = append(pairs, fmt.Sprintf("string number %d of the program", i), fmt.Sprintf("text of string %d in language %d", i, l))
				}
				files[l] = File{Component: "c", Language: fmt.Sprint(l), Path: fmt.Sprintf("po/%d.po", l)}
				for a := range size.authors {
					e := change(pairs[2*(a*31%size.strings)], "", by(fmt.Sprint("Author", a), a*size.languages+l))
					e.Base.Target, e.Base.State = pairs[2*(a*31%size.strings)+1], done
					files[l].Edits = append(files[l].Edits, e)
				}
				tree[files[l].Path] = po(pairs...)
			}
			head := up.Push("A", tree)
			m, err := gitsource.Open(b.Context(), b.TempDir(), remote.Repository{URL: up.Dir, Branch: "main"}, gitsource.Options{})
			gittest.Must(b, err)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				up.Set("main", head)
				for f := range files {
					for i := range files[f].Edits {
						files[f].Edits[i].Ours.Target = fmt.Sprintf("text number %d of %d", i, n)
					}
				}
				result, err := Run(b.Context(), m, Target{Branch: "main"}, func(context.Context, object.Head) ([]File, Options, error) {
					return files, Options{Committer: committer}, nil
				})
				if err != nil || len(result.Commits) != size.authors*size.languages {
					b.Fatal(err, len(result.Commits))
				}
			}
		})
	}
}

// BenchmarkAgain makes 280 commits of 14 files of 1,400 strings anew, after somebody committed
// another file.
func BenchmarkAgain(b *testing.B) {
	up := gittest.NewUpstream[object.Hash](b)
	tree := gittest.Files{}
	files := make([]File, 14)
	for l := range files {
		var pairs []string
		for i := range 1400 {
			pairs = append(pairs, fmt.Sprintf("string number %d of the program", i), "")
		}
		files[l] = File{Component: "c", Language: fmt.Sprint(l), Path: fmt.Sprintf("po/%d.po", l)}
		for a := range 20 {
			files[l].Edits = append(files[l].Edits, change(pairs[2*a*31], fmt.Sprintf("text number %d", a), by(fmt.Sprint("Author", a), a*14+l)))
		}
		tree[files[l].Path] = po(pairs...)
	}
	head := up.Push("A", tree)
	m, err := gitsource.Open(b.Context(), b.TempDir(), remote.Repository{URL: up.Dir, Branch: "main"}, gitsource.Options{})
	gittest.Must(b, err)
	var memo Memo
	flush := func() {
		_, err := m.Fetch(b.Context())
		gittest.Must(b, err)
		w, err := m.Writer(b.Context())
		gittest.Must(b, err)
		defer w.Close()
		result, err := Derive(b.Context(), w, files, Options{Committer: committer, Memo: &memo})
		if err != nil || len(result.Commits) != 280 {
			b.Fatal(err, len(result.Commits))
		}
	}
	flush()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		tree["README"] = fmt.Sprint(n)
		head = up.Push("B", tree, head)
		b.StartTimer()
		flush()
	}
}
