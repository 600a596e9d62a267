package merge

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestThreeVersions makes merges of three versions of a real file: each side makes a drawn half
// of what changed until a later version of its own. What one side changed is as it has it,
// what both changed is as the table says, no text is lost, and none is under another source.
func TestThreeVersions(t *testing.T) {
	t.Parallel()
	all := longHistories(t)
	most := testsize.Of(20, 100, 10_000)
	count, skipped, outcomes := 0, 0, map[Outcome]int{}
	var conflicts, gitConflicts int
	dir := t.TempDir()
	for n := 0; count < most && n < 3*most; n++ {
		d := drawThree(t, all, n)
		if d == nil {
			skipped++
			continue
		}
		count++
		r, err := Files(d.base, d.ours, d.theirs, Options{})
		if err != nil {
			t.Errorf("%s: %v", d.name, err)
			d.keep(t, n, nil)
			continue
		}
		if why := d.wrong(t, r); why != "" {
			t.Errorf("%s: %s", d.name, why)
			d.keep(t, n, r.Data)
		}
		if r.Conflicts > 0 {
			conflicts++
		}
		if r.Table != nil {
			for i := range r.Table.Rows {
				row := &r.Table.Rows[i]
				if outcomes[row.Outcome]++; row.Outcome >= Moved && os.Getenv("REPOGLOT_SHOW") != "" {
					show(t, d.name, row)
				}
			}
		}
		if testsize.Nightly() {
			if n, _ := mergeByGit(t, dir, d.base, d.ours, d.theirs); n > 0 {
				gitConflicts++
			}
		}
	}
	t.Logf("%d merges, %d others skipped; %d with conflicts, %d by git; strings by outcome: %v", count, skipped, conflicts, gitConflicts, outcomes)
}

func show(t *testing.T, name string, row *Row) {
	var b strings.Builder
	fmt.Fprintf(&b, "%v in %s, similarity %.2f\n", row.Outcome, name, row.Similarity)
	for v, e := range row.Entry {
		if e == nil {
			fmt.Fprintf(&b, "  %s: none\n", sideNames[v])
		} else {
			fmt.Fprintf(&b, "  %s: obsolete %t fuzzy %t %q = %q\n", sideNames[v], e.Obsolete, e.Fuzzy, e.ID, e.Str)
		}
	}
	t.Log(b.String())
}

func drawThree(t *testing.T, all []*history, n int) *drawing {
	rng := rand.New(rand.NewPCG(uint64(n), 17))
	h := all[rng.IntN(len(all))]
	i := rng.IntN(len(h.versions) - 2)
	j := min(i+1+rng.IntN(1+rng.IntN(10)), len(h.versions)-2)
	k := min(j+1+rng.IntN(1+rng.IntN(10)), len(h.versions)-1)
	if rng.IntN(2) == 0 {
		j, k = k, j
	}
	base, x, y := openVersion(h.read(t, i)), openVersion(h.read(t, j)), openVersion(h.read(t, k))
	if base == nil || x == nil || y == nil {
		return nil
	}
	d := &drawing{name: fmt.Sprintf("%d: %s %d..%d, %d", n, h.name, i, j, k), base: base.data, want: base}
	pick := func() func(string) parts {
		picked := map[string]parts{}
		return func(k string) parts {
			p, ok := picked[k]
			if !ok {
				p = []parts{0, partAll, partAll, parts(rng.IntN(int(partAll + 1)))}[rng.IntN(4)]
				picked[k] = p
			}
			return p
		}
	}
	var err error
	if d.ours, err = change(base, x, pick()); err == nil {
		d.theirs, err = change(base, y, pick())
	}
	if err != nil {
		return nil
	}
	return d
}

// wrong says what a merge did that is not right.
func (d *drawing) wrong(t *testing.T, r Result) string {
	var files [3]*poparse.File
	for v, data := range [][]byte{d.base, d.ours, d.theirs} {
		f, err := poparse.Parse("", data)
		if err != nil {
			t.Fatal(err)
		}
		files[v] = f
	}
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	base, ours, theirs := saidBy(files[Base]), saidBy(files[Ours]), saidBy(files[Theirs])
	byKey := [3]map[string]*poparse.Entry{}
	for v, f := range files {
		byKey[v] = map[string]*poparse.Entry{}
		for _, e := range entriesOf(f) {
			byKey[v][keyOf(e)] = e
		}
	}
	have := map[string]bool{}
	var merged [3]*poparse.File
	for v := Ours; v <= Theirs; v++ {
		f, err := poparse.Parse("", resolved(r.Data, v))
		if err != nil {
			return err.Error()
		}
		merged[v] = f
		for _, e := range f.Entries {
			for _, text := range slices.Concat(e.Str, lines(e.Comments)) {
				have[text] = true
			}
			// A text in a comment is written as in a file.
			have[strings.Join(lines(e.Comments), "\n")] = true
		}
	}
	comments := allComments(merged[Ours])
	// No text is lost.
	had := map[string]bool{}
	for _, e := range files[Base].Entries {
		for _, text := range slices.Concat(e.Str, lines(e.Comments)) {
			had[text] = true
		}
	}
	for v := Ours; v <= Theirs; v++ {
		for _, e := range files[v].Entries {
			for _, text := range slices.Concat(e.Str, lines(e.Comments)) {
				if text != "" && !had[text] && !have[text] && !strings.Contains(comments, text) {
					add("%q of %q is lost", text, e.ID)
				}
			}
		}
	}
	// No text is under another source.
	seen := map[string]bool{}
	for _, f := range files {
		for _, e := range f.Entries {
			seen[fmt.Sprint(sourceAndText(e), e.Fuzzy)] = true
		}
	}
	for v := Ours; v <= Theirs; v++ {
		for _, e := range merged[v].Entries {
			if TextOf(e).Translated() && !seen[fmt.Sprint(sourceAndText(e), false)] {
				add("%q is under %q, which its author did not see", e.Str, e.ID)
			}
		}
	}
	// Each field is as its rule says.
	got := [3]map[string][4]string{nil, saidBy(merged[Ours]), saidBy(merged[Theirs])}
	all := map[string]bool{}
	for _, said := range []map[string][4]string{base, ours, theirs} {
		for k := range said {
			all[k] = true
		}
	}
	const there, gone = 3, ""
	for k := range all {
		b, o, h := base[k], ours[k], theirs[k]
		switch {
		case byKey[Ours][k] != nil && isHeader(byKey[Ours][k]):
			continue
		case o == b, h == b, o == h:
			want := o
			if o == b {
				want = h
			}
			for v := Ours; v <= Theirs; v++ {
				if b[there] == gone && got[v][k][there] != gone {
					want[1] = got[v][k][1] // comments for the string that it was before
				}
				if got[v][k] != want && !d.moved(byKey, merged[v], k) {
					add("%s is\n\t%q, want\n\t%q", k, got[v][k], want)
				}
			}
		case o[there] == gone || h[there] == gone || o[there] != h[there]:
		default:
			for f := range there {
				if f == 0 {
					continue
				}
				want := o[f]
				if o[f] == b[f] {
					want = h[f]
				}
				for v := Ours; v <= Theirs; v++ {
					if f == 1 && strings.Contains(got[v][k][f], `"theirs:"`) || strings.Contains(got[v][k][f], `"ours:"`) {
						continue // a fuzzy text that was not taken
					}
					if (o[f] == b[f] || h[f] == b[f] || o[f] == h[f]) && got[v][k][f] != want && !d.moved(byKey, merged[v], k) {
						add("field %d of %s is\n\t%q, want\n\t%q", f, k, got[v][k][f], want)
					}
				}
			}
			if both := byKey[Base][k] == nil && byKey[Ours][k].Fuzzy && byKey[Theirs][k].Fuzzy; both || b[there] != o[there] && b[there] != gone {
				continue // of two guesses about a new string either is right
			}
			for v := Ours; v <= Theirs; v++ {
				want := o[0]
				switch ruled(byKey[Base][k], byKey[Ours][k], byKey[Theirs][k]) {
				case Theirs:
					want = h[0]
				case Base:
					if want = o[0]; v == Theirs {
						want = h[0]
					}
				}
				// A conflict is marked as fuzzy if one of both is.
				texts, _, _ := strings.Cut(want, "]")
				if isThere, _, _ := strings.Cut(got[v][k][0], "]"); isThere != texts && !d.moved(byKey, merged[v], k) {
					add("%s is\n\t%q, want\n\t%q", k, got[v][k][0], want)
				}
			}
		}
	}
	slices.Sort(list)
	return strings.Join(list[:min(len(list), 5)], "\n")
}

// moved reports whether a string that one side added got, as a fuzzy text, what the other side
// made of the string that it was before.
func (d *drawing) moved(byKey [3]map[string]*poparse.Entry, merged *poparse.File, k string) bool {
	for _, e := range merged.Entries {
		if keyOf(e) != k || !e.Fuzzy || byKey[Base][k] != nil || byKey[Ours][k] != nil && byKey[Theirs][k] != nil {
			continue
		}
		for v := Ours; v <= Theirs; v++ {
			for old, was := range byKey[v] {
				if !live(byKey[v.other()][old]) && TextOf(was).same(TextOf(e)) {
					return true
				}
			}
		}
	}
	return false
}

// allComments joins comments, and the texts that they have as a file has them.
func allComments(f *poparse.File) string {
	var b strings.Builder
	for _, e := range f.Entries {
		for _, line := range lines(e.Comments) {
			text, rest := "", line
			for {
				_, after, _ := strings.Cut(rest, `"`)
				quoted, err := strconv.QuotedPrefix(`"` + after)
				if err != nil {
					break
				}
				one, _ := strconv.Unquote(quoted)
				text, rest = text+one, after[len(quoted)-1:]
			}
			if text == "" && line != "" {
				text = line + "\n"
			}
			b.WriteString(text)
		}
	}
	return b.String()
}

// ruled says whose text of a string is right that all have: Base if it is a conflict.
func ruled(base, ours, theirs *poparse.Entry) Side {
	b, o, h := TextOf(base), TextOf(ours), TextOf(theirs)
	fresh := func(t Text) bool { return base == nil || !t.same(b) }
	switch {
	case o.Equal(h), base != nil && h.Equal(b):
		return Ours
	case base != nil && o.Equal(b):
		return Theirs
	case h.Empty():
		return Ours
	case o.Empty():
		return Theirs
	case o.same(h) && h.Fuzzy:
		return Ours
	case o.same(h):
		return Theirs
	case fresh(o) && !fresh(h) && h.Fuzzy, base == nil && h.Fuzzy && !o.Fuzzy:
		return Ours
	case fresh(h) && !fresh(o) && o.Fuzzy, base == nil && o.Fuzzy && !h.Fuzzy:
		return Theirs
	}
	return Base
}
