package gitsource

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"pgregory.net/rapid"
)

var poMask = filemask.Matcher{Want: func(p string) bool { return strings.HasSuffix(p, ".po") }}

// describe writes a walk down for comparison: commit subject: changes; origins.
func describe(list []Step) []string {
	var out []string
	for _, s := range list {
		var b strings.Builder
		b.WriteString(s.Commit.Author.Name + ":")
		for _, c := range s.Changes {
			sign := "~"
			if c.Old.IsZero() {
				sign = "+"
			} else if c.New.IsZero() {
				sign = "-"
			}
			b.WriteString(" " + sign + c.Path)
		}
		b.WriteString(" |")
		for _, o := range s.Origins {
			fmt.Fprintf(&b, " %s%v", o.Commit.Author.Name, o.Parents)
		}
		out = append(out, b.String())
	}
	return out
}

func TestStepsLinear(t *testing.T) {
	u := newUpstream(t)
	c1 := u.Commit("A", files{"po/de.po": "1", "README": "x"})
	c2 := u.Commit("B", files{"po/de.po": "1", "README": "y"}, c1) // touches no PO file
	c3 := u.Commit("C", files{"po/de.po": "2", "po/cs.po": "1", "README": "y"}, c2)
	c4 := u.Commit("D", files{"po/cs.po": "1", "README": "y"}, c3)
	c5 := u.Commit("E", files{"po": "a file", "README": "y"}, c4)
	c6 := u.Commit("F", files{"po/cs.po/deep.po": "1", "de.po": "->README", "sub.po": "@"}, c5) // links and submodules count as absent
	c7 := u.Push("G", files{"po/cs.po/deep.po": "->x", "de.po": "now a file"}, c6)
	r := reader(t, mirrorOf(t, u, Options{}))
	want := []string{
		"A: +po/de.po | A[]",
		"C: +po/cs.po ~po/de.po | C[-1]",
		"D: -po/de.po | D[-1]",
		"E: -po/cs.po | E[-1]",
		"F: +po/cs.po/deep.po | F[-1]",
		"G: +de.po -po/cs.po/deep.po | G[-1]",
	}
	if d := cmp.Diff(want, describe(steps(t, r, object.Hash{}, c7, poMask))); d != "" {
		t.Errorf("replay (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want[2:], describe(steps(t, r, c3, c7, poMask))); d != "" {
		t.Errorf("pull (-want +got):\n%s", d)
	}
	if got := steps(t, r, c7, c7, poMask); len(got) > 0 {
		t.Errorf("no way is %v", describe(got))
	}
	last := steps(t, r, c6, c7, poMask)[0]
	if last.Base != c6 || last.Commit.Hash != c7 || last.Changes[0].New.IsZero() || !last.Changes[0].Old.IsZero() {
		t.Errorf("step is %+v", last)
	}
}

func TestStepsStopEarly(t *testing.T) {
	u := newUpstream(t)
	var h object.Hash
	for i := range 5 {
		h = u.Commit("A", files{"de.po": fmt.Sprint(i)}, slices.DeleteFunc([]object.Hash{h}, object.Hash.IsZero)...)
	}
	u.Set("main", h)
	r := reader(t, mirrorOf(t, u, Options{}))
	n := 0
	for range r.Steps(context.Background(), object.Hash{}, h, poMask) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d steps", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range r.Steps(ctx, object.Hash{}, h, poMask) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	for _, pair := range [][2]object.Hash{{{1}, h}, {h, {2}}} {
		for _, err := range r.Steps(context.Background(), pair[0], pair[1], poMask) {
			if !errors.Is(err, object.ErrUnknownCommit) {
				t.Errorf("error %v, want ErrUnknownCommit", err)
			}
		}
	}
}

// credit returns the author who introduced the text of each change: the file is
// lines "key=text", and each key is one text.
func credit(t *testing.T, r *Reader, s Step) map[string]string {
	t.Helper()
	read := func(h object.Hash) map[string]string {
		m := map[string]string{}
		if h.IsZero() {
			return m
		}
		data, err := r.Blob(context.Background(), h, 0)
		gittest.Must(t, err)
		for line := range strings.SplitSeq(string(data), "\n") {
			key, text, _ := strings.Cut(line, "=")
			m[key] = text
		}
		return m
	}
	got := map[string]string{}
	for i, c := range s.Changes {
		old, cur := read(c.Old), read(c.New)
		for key := range maps.Keys(cur) {
			if old[key] == cur[key] {
				continue
			}
			o := introducer(s, i, func(h object.Hash) bool { return read(h)[key] == cur[key] })
			got[c.Path+":"+key] = s.Origins[o].Commit.Author.Name
		}
	}
	return got
}

func TestStepsCreditMerges(t *testing.T) {
	u := newUpstream(t)
	po := func(lines ...string) files { return files{"de.po": strings.Join(lines, "\n")} }
	root := u.Commit("Root", po("a=1", "b=1", "c=1"))
	early := u.Commit("Early", po("a=2", "b=1", "c=1"), root)
	base := u.Commit("Base", po("a=3", "b=1", "c=1"), early)
	anna := u.Commit("Anna", po("a=3", "b=2", "c=1"), base)
	noop := u.Commit("Noop", po("a=3", "b=2", "c=1"), anna)
	bert := u.Commit("Bert", po("a=3", "b=1", "c=2"), base)
	check := func(name string, from, to object.Hash, wantSteps []string, want map[string]string) {
		t.Helper()
		u.Set("main", to)
		r := reader(t, mirrorOf(t, u, Options{}))
		list := steps(t, r, from, to, poMask)
		if d := cmp.Diff(wantSteps, describe(list)); d != "" {
			t.Errorf("%s: steps (-want +got):\n%s", name, d)
		}
		got := map[string]string{}
		for _, s := range list {
			maps.Copy(got, credit(t, r, s))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: credit (-want +got):\n%s", name, d)
		}
	}

	merge := u.Commit("Merge", po("a=3", "b=2", "c=2"), bert, noop)
	check("a side branch", bert, merge, []string{"Merge: ~de.po | Anna[-1] Merge[-1 0]"}, map[string]string{"de.po:b": "Anna"})
	check("old mainline second", noop, merge, []string{"Merge: ~de.po | Bert[-1] Merge[0 -1]"}, map[string]string{"de.po:c": "Bert"})
	check("replay", object.Hash{}, merge, []string{
		"Root: +de.po | Root[]", "Early: ~de.po | Early[-1]", "Base: ~de.po | Base[-1]",
		"Bert: ~de.po | Bert[-1]", "Merge: ~de.po | Anna[-1] Merge[-1 0]",
	}, map[string]string{"de.po:a": "Base", "de.po:b": "Anna", "de.po:c": "Bert"})

	evil := u.Commit("Evil", po("a=3", "b=9", "c=2"), bert, noop)
	check("a text that is no parent's", bert, evil, []string{"Evil: ~de.po | Anna[-1] Evil[-1 0]"}, map[string]string{"de.po:b": "Evil"})

	octopus := u.Commit("Octopus", po("a=3", "b=2", "c=2"), base, anna, bert)
	check("octopus", base, octopus, []string{"Octopus: ~de.po | Anna[-1] Bert[-1] Octopus[-1 0 1]"}, map[string]string{"de.po:b": "Anna", "de.po:c": "Bert"})

	inner := u.Commit("Inner", po("a=3", "b=2", "c=2"), anna, bert)
	outer := u.Commit("Outer", po("a=3", "b=2", "c=2"), base, inner)
	check("a merge of a merge", base, outer, []string{"Outer: ~de.po | Anna[-1] Bert[-1] Inner[0 1] Outer[-1 2]"}, map[string]string{"de.po:b": "Anna", "de.po:c": "Bert"})

	x1 := u.Commit("X1", po("a=3", "b=2", "c=2"), anna, bert)
	x2 := u.Commit("X2", po("a=3", "b=2", "c=2"), bert, anna)
	cross := u.Commit("Cross", po("a=3", "b=2", "c=2"), x1, x2)
	check("criss-cross", anna, cross, []string{"X1: ~de.po | Bert[-1] X1[-1 0]"}, map[string]string{"de.po:c": "Bert"})

	old := u.Commit("Old", po("a=2", "b=1", "c=7"), early) // a branch from before Base
	back := u.Commit("Back", po("a=2", "b=1", "c=7"), base, old)
	check("an old branch brings a text back", base, back, []string{"Back: ~de.po | Old[-1] Back[-1 0]"}, map[string]string{"de.po:a": "Back", "de.po:c": "Old"})

	rewritten := u.Commit("Rewritten", po("a=5", "b=1", "c=1"), early)
	check("a rewritten branch", anna, rewritten, []string{"Rewritten: ~de.po | Rewritten[-1]"}, map[string]string{"de.po:a": "Rewritten", "de.po:b": "Rewritten"})

	alien := u.Commit("Alien", po("a=3", "b=2", "z=1"))
	check("another history", anna, alien, []string{"Alien: ~de.po | Alien[]"}, map[string]string{"de.po:z": "Alien"})
}

// TestOriginsModel compares steps of random histories with an exhaustive search for
// the new commits and for the commits that may be credited.
func TestOriginsModel(t *testing.T) {
	u := newUpstream(t)
	var trees []object.Hash
	for i := range 4 {
		trees = append(trees, u.Tree(files{"x/de.po": fmt.Sprint(i)}))
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 14).Draw(rt, "commits")
		var ids []object.Hash
		parents := map[object.Hash][]object.Hash{}
		text := map[object.Hash]string{}
		for i := range n {
			var ps []object.Hash
			for range rapid.SampledFrom([]int{1, 1, 1, 2, 2, 3}).Draw(rt, "parents") {
				if i == 0 {
					break
				}
				p := ids[rapid.IntRange(max(0, i-6), i-1).Draw(rt, "parent")]
				if !slices.Contains(ps, p) {
					ps = append(ps, p)
				}
			}
			u.Clock += int64(rapid.IntRange(-500, 500).Draw(rt, "skew"))
			k := rapid.IntRange(0, 3).Draw(rt, "text")
			h := u.CommitTree(fmt.Sprintf("c%d", i), trees[k], ps...)
			ids = append(ids, h)
			parents[h], text[h] = ps, fmt.Sprint(k)
		}
		from, to := ids[rapid.IntRange(0, n-1).Draw(rt, "from")], ids[n-1]
		if rapid.Bool().Draw(rt, "replay") {
			from = object.Hash{}
		}
		gen := initGeneration(t, u, to)
		defer gen.Close()
		for s, err := range gen.Steps(context.Background(), from, to, poMask) {
			if err != nil {
				rt.Fatal(err)
			}
			fresh := reachable(parents, s.Commit.Hash)
			for h := range reachable(parents, s.Base) {
				delete(fresh, h)
			}
			for k, o := range s.Origins {
				if !fresh[o.Commit.Hash] {
					rt.Fatalf("%s is not new in %s..%s", o.Commit.Author.Name, s.Base, s.Commit.Hash)
				}
				for j, p := range o.Parents {
					if p >= k || (p < 0) != (o.Outside[j] != nil) {
						rt.Fatalf("origin %d has parents %v, outside %v", k, o.Parents, o.Outside)
					}
				}
			}
			if s.Origins[len(s.Origins)-1].Commit.Hash != s.Commit.Hash {
				rt.Fatal("the step's own commit is not the last origin")
			}
			got := s.Origins[introducer(s, 0, func(b object.Hash) bool { return b == s.Changes[0].New })].Commit.Hash
			may := creditable(parents, text, fresh, s.Commit.Hash)
			if !may[got] {
				rt.Fatalf("%s is credited, may be %v", got, may)
			}
		}
	})
}

// initGeneration reads the upstream itself: no copy per random history.
func initGeneration(t *testing.T, u *upstream, head object.Hash) *Reader {
	t.Helper()
	r, err := openReader(u.Dir, object.Head{Hash: head, Branch: "main"}, func() {})
	gittest.Must(t, err)
	return r
}

func reachable(parents map[object.Hash][]object.Hash, from object.Hash) map[object.Hash]bool {
	all := map[object.Hash]bool{}
	todo := []object.Hash{from}
	for len(todo) > 0 {
		h := todo[0]
		todo = todo[1:]
		if h.IsZero() || all[h] {
			continue
		}
		all[h] = true
		todo = append(todo, parents[h]...)
	}
	return all
}

// creditable applies the rule for authors (docs/compatibility.md#authors) to the whole graph: descend to any parent in
// the range with the same text; commits all of whose parents differ may be
// credited; if none is reached, the step's own is.
func creditable(parents map[object.Hash][]object.Hash, text map[object.Hash]string, fresh map[object.Hash]bool, own object.Hash) map[object.Hash]bool {
	may, seen := map[object.Hash]bool{}, map[object.Hash]bool{}
	todo := []object.Hash{own}
	for len(todo) > 0 {
		h := todo[0]
		todo = todo[1:]
		if seen[h] {
			continue
		}
		seen[h] = true
		inherited := false
		for _, p := range parents[h] {
			if text[p] == text[own] {
				inherited = true
				if fresh[p] {
					todo = append(todo, p)
				}
			}
		}
		if !inherited {
			may[h] = true
		}
	}
	if len(may) == 0 {
		may[own] = true
	}
	return may
}

func TestIsAncestor(t *testing.T) {
	u := newUpstream(t)
	a := u.Commit("A", files{"x": "1"})
	b := u.Commit("B", files{"x": "2"}, a)
	c := u.Commit("C", files{"x": "3"}, a)
	m := u.Push("M", files{"x": "4"}, b, c)
	r := reader(t, mirrorOf(t, u, Options{}))
	for _, q := range []struct {
		a, b object.Hash
		want bool
	}{{a, m, true}, {c, m, true}, {b, c, false}, {m, a, false}, {m, m, true}} {
		if got, err := r.IsAncestor(context.Background(), q.a, q.b); err != nil || got != q.want {
			t.Errorf("%v, %v; want %v", got, err, q.want)
		}
	}
	if _, err := r.IsAncestor(context.Background(), object.Hash{1}, m); !errors.Is(err, object.ErrUnknownCommit) {
		t.Errorf("unknown commit: %v", err)
	}
}

func TestStepsTruncated(t *testing.T) {
	u := newUpstream(t)
	base := u.Commit("Base", files{"de.po": "0"})
	main := u.Commit("Main", files{"de.po": "0", "x": "1"}, base)
	side := base
	for i := range 20 {
		side = u.Commit("Side", files{"de.po": fmt.Sprint(i + 1)}, side)
	}
	merge := u.Push("Merge", files{"de.po": "20", "x": "1"}, main, side)
	r := reader(t, mirrorOf(t, u, Options{}))
	if fresh, err := r.store.Difference(context.Background(), side, []object.Hash{base}, 5); err != nil || len(fresh) <= 5 || len(fresh) > 10 {
		t.Errorf("%d commits, %v; the search was to end soon after 5", len(fresh), err)
	}
	for _, from := range []object.Hash{main, {}} { // with a search, and without
		w, err := r.newWalk(context.Background(), from, merge, poMask)
		gittest.Must(t, err)
		w.limit = 5
		var s Step
		for i := len(w.chain) - 1; i >= 0; i-- {
			s, err = w.step(context.Background(), w.chain[i])
			gittest.Must(t, err)
		}
		if d := cmp.Diff([]string{"Merge: ~de.po | Merge[-1]"}, describe([]Step{s})); d != "" || !s.Truncated {
			t.Errorf("truncated %v (-want +got):\n%s", s.Truncated, d)
		}
	}
}
