package flush

import (
	"fmt"
	"testing"

	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// BenchmarkRun flushes 500 edits of 10 files with 5,000 strings each, and pushes them to
// a local repository.
func BenchmarkRun(b *testing.B) {
	gittest.NeedGit(b)
	up := gittest.NewUpstream[object.Hash](b)
	tree := gittest.Files{}
	var files []File
	for lang := range 10 {
		var pairs []string
		f := File{Component: "c", Language: fmt.Sprint(lang), Path: fmt.Sprintf("po/%d.po", lang)}
		for i := range 5000 {
			pairs = append(pairs, fmt.Sprintf("string number %d of the program", i), "")
			if i%100 == 0 {
				f.Edits = append(f.Edits, change(pairs[2*i], fmt.Sprintf("text number %d", i), by("Jana", i)))
			}
		}
		tree[f.Path] = po(pairs...)
		files = append(files, f)
	}
	head := up.Push("A", tree)
	m, err := gitsource.Open(b.Context(), b.TempDir(), remote.Repository{URL: up.Dir, Branch: "main"}, gitsource.Options{})
	gittest.Must(b, err)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		up.Set("main", head)
		for f := range files { // other texts, so that no object is there already
			for i := range files[f].Edits {
				files[f].Edits[i].Ours.Target = fmt.Sprintf("text number %d of %d", i, n)
			}
		}
		result, err := Run(b.Context(), m, Target{Branch: "main"}, always(files, Options{Committer: committer}))
		if err != nil || len(result.Commits) != 10 || result.Outcomes[9][49].Outcome != edit.Applied {
			b.Fatal(err, result)
		}
	}
}
