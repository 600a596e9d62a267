package msgmerge

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

var update = flag.Bool("update", false, "record what msgmerge 0.21 makes of the recorded repositories")

func TestMain(m *testing.M) { gittest.Main(m) }

// pair is a file and a template that belong together; read returns their bytes.
type pair struct {
	name string // of the file, with its repository
	head bool   // the last commit has them
	read func() (file, template []byte)
}

// comparison is a pair that is merged with options.
type comparison struct {
	pair
	args string
}

// sum is the beginning of the hash of a result; zero of what is refused.
type sum [4]byte

func sumOf(text string) sum {
	h := sha256.Sum256([]byte(text))
	return sum(h[:4])
}

// pairs lists all pairs of files and templates that commits of a bundle have, each once: the
// template is the only one of the commit, or in the folder of the file, or, of
// NAME/LANGUAGE/LC_MESSAGES, in the folder NAME.
func pairs(t *testing.T, bundle string) (list []pair) {
	t.Helper()
	dir := gittest.Bundle(t, bundle)
	objects, err := object.Open(dir)
	gittest.Must(t, err)
	t.Cleanup(func() { _ = objects.Close() })
	blob := func(h object.Hash) []byte {
		data, err := objects.Blob(h, 64<<20)
		gittest.Must(t, err)
		return data
	}
	trees := map[object.Hash]map[string]object.Hash{}
	var walk func(tree object.Hash) map[string]object.Hash
	walk = func(tree object.Hash) map[string]object.Hash {
		if found, ok := trees[tree]; ok {
			return found
		}
		entries, err := objects.Tree(tree)
		gittest.Must(t, err)
		found := map[string]object.Hash{}
		for _, e := range entries {
			if ext := path.Ext(e.Name); e.Kind == object.KindFile && (ext == ".po" || ext == ".pot") {
				found[e.Name] = e.Hash
			}
			if e.Kind == object.KindTree {
				for name, h := range walk(e.Hash) {
					found[e.Name+"/"+name] = h
				}
			}
		}
		trees[tree] = found
		return found
	}
	type key struct{ template, file object.Hash }
	seen := map[key]pair{}
	for i, id := range strings.Fields(gittest.RunGit(t, dir, "rev-list", "HEAD")) {
		hash, err := object.ParseHash(id)
		gittest.Must(t, err)
		c, err := objects.Commit(hash)
		gittest.Must(t, err)
		files := walk(c.Tree)
		var templates []string
		for name := range files {
			if path.Ext(name) == ".pot" {
				templates = append(templates, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			for _, template := range templates {
				folder := path.Dir(name)
				if path.Ext(name) != ".po" || len(templates) > 1 && path.Dir(template) != folder &&
					(path.Base(folder) != "LC_MESSAGES" || template != path.Join(folder, "../..", path.Base(name)+"t")) {
					continue
				}
				k := key{files[template], files[name]}
				if _, ok := seen[k]; !ok {
					seen[k] = pair{bundle + "/" + name, i == 0, func() ([]byte, []byte) { return blob(k.file), blob(k.template) }}
				}
			}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(seen), func(a, b key) int {
		return cmp.Or(a.template.Compare(b.template), a.file.Compare(b.file))
	}) {
		list = append(list, seen[k])
	}
	return list
}

// awkward lists awkward files, each with a template in UTF-8 that lacks every fifth of its strings
// and has a reworded one for every seventh.
func awkward(t *testing.T) (list []pair) {
	t.Helper()
	folder := gittest.Shared(t, "data", "repos", "awkward")
	for _, pattern := range []string{"*.po", "synthetic/*.po"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		gittest.Must(t, err)
		for _, file := range files {
			list = append(list, pair{name: "awkward/" + filepath.Base(file), read: func() ([]byte, []byte) {
				data := read(t, file)
				return data, templateOf(t, data)
			}})
		}
	}
	return list
}

// templateOf makes a template of a file; one without strings of what cannot be read.
func templateOf(t *testing.T, data []byte) []byte {
	t.Helper()
	template := &poparse.File{Header: &poparse.Entry{Str: []string{"POT-Creation-Date: 2026-01-02 03:04+0000\nContent-Type: text/plain; charset=UTF-8\n"}}}
	if f, err := poparse.Parse("a.po", data); err == nil {
		for i, e := range f.Entries {
			if e.Obsolete || i%5 == 4 {
				continue
			}
			e := *e
			e.Str, e.Fuzzy, e.Previous, e.Comments = make([]string, len(form(e.Str))), false, nil, nil
			if i%7 == 6 {
				e.ID += " now"
			}
			template.Entries = append(template.Entries, &e)
		}
	}
	var out bytes.Buffer
	_, err := template.WriteTo(&out)
	gittest.Must(t, err)
	return out.Bytes()
}

// comparisons lists what is compared, by the name of its record.
func comparisons(t *testing.T) map[string][]comparison {
	t.Helper()
	bundles, err := filepath.Glob(filepath.Join(gittest.Shared(t, "data", "repos"), "*.bundle"))
	gittest.Must(t, err)
	list := map[string][]comparison{}
	add := func(group string, p pair, args ...string) {
		for _, a := range args {
			list[group] = append(list[group], comparison{p, a})
		}
	}
	var all []pair
	for _, bundle := range bundles {
		for _, p := range pairs(t, strings.TrimSuffix(filepath.Base(bundle), ".bundle")) {
			all = append(all, p)
			add("history", p, "-N")
			if p.head {
				add("heads", p, slices.Sorted(maps.Keys(optionSets()))...)
			}
		}
	}
	for i, at := range rand.New(rand.NewPCG(25, 0)).Perm(len(all))[:2000] {
		add("drawn", all[at], []string{"", "--previous"}[i%2])
	}
	for _, p := range awkward(t) {
		add("awkward", p, "-N", "--previous")
	}
	return list
}

// TestOracle compares what is made of the recorded repositories with what GNU msgmerge 0.21 made
// of them, byte by byte: each file at a head with each set of options; each pair of a file and a
// template that a commit had, without fuzzy matching; 2,000 drawn ones of these with it; awkward
// files. testdata/ has four bytes of the SHA-256 of each result, zeros of what it refuses. So all
// similar texts are those that msgmerge takes; where one is not, both similarities are listed.
func TestOracle(t *testing.T) {
	for group, list := range comparisons(t) {
		t.Run(group, func(t *testing.T) {
			file := filepath.Join("testdata", group+".sums")
			if *update {
				record(t, file, list)
			}
			want := read(t, file)
			if len(want) != len(list)*len(sum{}) {
				t.Fatalf("%s has %d sums, want %d: record it again with -update", file, len(want)/len(sum{}), len(list))
			}
			differ, matches := map[string]int{}, 0
			first, step := testsize.Of(len(list)/100, 3, 0), testsize.Of(len(list)/50, 29, 1)
			if group == "awkward" {
				first, step = 0, 1
			}
			for i := first; i < len(list); i += step {
				file, template := list[i].read()
				got, r, err := merge(t, file, template, optionSets()[list[i].args])
				result := sumOf(got)
				if errors.Is(err, ErrRefused) {
					result = sum{}
				} else if err != nil {
					t.Errorf("%s: %v", list[i].name, err)
				} else {
					matches += len(r.Reworded)
				}
				if bytes.Equal(result[:], want[i*len(sum{}):][:len(sum{})]) {
					continue
				}
				if differ[list[i].name]++; differences()[list[i].name] == "" {
					t.Errorf("%s differs with %q%s", list[i].name, list[i].args, otherMatches(t, file, template, list[i].args, r))
				}
			}
			t.Logf("%d similar texts", matches)
			for name := range differences() {
				if strings.HasPrefix(name, "awkward/") == (group == "awkward") && step == 1 && (group == "history" || group == "awkward") && differ[name] == 0 {
					t.Errorf("%s differs no more", name)
				}
			}
		})
	}
}

// otherMatches lists the strings that got another text than msgmerge gives them, with how similar
// theirs is whose text it is. Without msgmerge it does not know.
func otherMatches(t *testing.T, file, template []byte, args string, r *Result) (list string) {
	t.Helper()
	if _, err := exec.LookPath("msgmerge"); err != nil || r == nil {
		return ""
	}
	out, _ := msgmerge(t, file, template, strings.Fields(args)...)
	was, err := poparse.Parse("a.po", file)
	gittest.Must(t, err)
	theirs, err := poparse.Parse("b.po", []byte(out))
	gittest.Must(t, err)
	textOf := func(f *poparse.File, ref *poparse.Entry) string {
		for _, e := range f.Entries {
			if keyOf(e) == keyOf(ref) {
				return form(e.Str)[0]
			}
		}
		return ""
	}
	similarity := func(ref *poparse.Entry, text string) (best float64) {
		for _, e := range was.Entries {
			if form(e.Str)[0] == text {
				best = max(best, Similarity(ref.ID)(e.ID))
			}
		}
		return best
	}
	for _, ref := range r.Reworded {
		if a, b := textOf(r.File, ref), textOf(theirs, ref); a != b {
			list += fmt.Sprintf("\n%q: %.4f %q, msgmerge %.4f %q", ref.ID, similarity(ref, a), a, similarity(ref, b), b)
		}
	}
	return list
}

// record writes what msgmerge makes.
func record(t *testing.T, file string, list []comparison) {
	t.Helper()
	needMsgmerge(t)
	var sums []byte
	for _, c := range list {
		file, template := c.read()
		out, complaint := msgmerge(t, file, template, strings.Fields(c.args)...)
		result := sumOf(out)
		if complaint != "" {
			result = sum{}
		}
		sums = append(sums, result[:]...)
	}
	gittest.Must(t, os.MkdirAll("testdata", 0o755))
	gittest.Must(t, os.WriteFile(file, sums, 0o644))
}
