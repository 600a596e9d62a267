package merge

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

func TestMain(m *testing.M) { gittest.Main(m) }

// history has the versions of a PO file, the oldest first.
type history struct {
	name     string
	versions []string // ids of blobs
	objects  *object.Store
}

// read returns a version.
func (h *history) read(t *testing.T, n int) []byte { return blob(t, h.objects, h.versions[n]) }

func blob(t *testing.T, objects *object.Store, id string) []byte {
	t.Helper()
	hash, err := object.ParseHash(id)
	gittest.Must(t, err)
	data, err := objects.Blob(hash, 64<<20)
	gittest.Must(t, err)
	return data
}

// bundleNames lists the shared bundles, with -short a small one of them.
func bundleNames(t *testing.T) (names []string) {
	if testing.Short() {
		return []string{"dnf-plugins-core"}
	}
	list, err := filepath.Glob(filepath.Join(gittest.Shared(t, "data", "repos"), "*.bundle"))
	gittest.Must(t, err)
	for _, name := range list {
		names = append(names, strings.TrimSuffix(filepath.Base(name), ".bundle"))
	}
	return names
}

func openObjects(t *testing.T, dir string) *object.Store {
	objects, err := object.Open(dir)
	gittest.Must(t, err)
	t.Cleanup(func() { _ = objects.Close() })
	return objects
}

// longHistories lists the PO files of all bundles that have three versions or more.
func longHistories(t *testing.T) (all []*history) {
	for _, bundle := range bundleNames(t) {
		for _, h := range histories(t, bundle) {
			if len(h.versions) > 2 {
				all = append(all, h)
			}
		}
	}
	return all
}

// histories lists the PO files of a bundle that have two versions or more.
func histories(t *testing.T, bundle string) (list []*history) {
	dir := gittest.Bundle(t, bundle)
	objects, byPath := openObjects(t, dir), map[string]*history{}
	out := gittest.RunGit(t, dir, "log", "--reverse", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=", "--", "*.po", "*.pot")
	for line := range strings.Lines(out) {
		meta, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 5 || fields[1] != "100644" {
			continue
		}
		h := byPath[path]
		if h == nil {
			h = &history{name: bundle + "/" + path, objects: objects}
			byPath[path] = h
		}
		if !slices.Contains(h.versions, fields[3]) {
			h.versions = append(h.versions, fields[3])
		}
	}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		if len(byPath[path].versions) > 1 {
			list = append(list, byPath[path])
		}
	}
	return list
}

// parts of an entry are changed each by itself; a header's are its lines, too.
type parts uint8

const (
	partText parts = 1 << iota
	partComments
	partTemplate
	partPresence
	partAll = partText | partComments | partTemplate | partPresence
)

// version is a file taken apart.
type version struct {
	data   []byte
	file   *poparse.File
	layout *poparse.Layout
	keys   []string
	texts  map[string]string // with the lines before
	spans  map[string]*poparse.Span
	tail   string
}

// open takes a file apart; nil of one that is not merged by meaning, or has repeated strings.
func openVersion(data []byte) *version {
	f, l, err := readFile(data)
	if err != nil || strings.Contains(l.Text, "\r") {
		return nil
	}
	v := &version{data: data, file: f, layout: l, texts: map[string]string{}, spans: map[string]*poparse.Span{}}
	at := 0
	for i := range l.Spans {
		s := &l.Spans[i]
		k := keyOf(s.Entry)
		if _, again := v.texts[k]; again {
			return nil
		}
		v.keys, v.spans[k] = append(v.keys, k), s
		v.texts[k] = l.Text[at:s.To]
		if i == 0 {
			v.texts[k] = "\n" + v.texts[k]
		}
		at = s.To
	}
	v.tail = l.Text[at:]
	return v
}

func keyOf(e *poparse.Entry) string { return fmt.Sprintf("%t %q %q", e.HasContext, e.Context, e.ID) }

// change makes of a file what somebody makes of it who takes over some of what changed until
// another version: those parts of each string that pick names, and whether the end is one.
func change(from, to *version, pick func(key string) parts) ([]byte, error) {
	var b strings.Builder
	write := func(text string) {
		if text = strings.TrimSuffix(text, "\n") + "\n"; !strings.HasPrefix(text, "\n") && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	stay := common(from, to)
	i := 0
	for _, k := range to.keys {
		if stay[k] {
			for ; from.keys[i] != k; i++ { // gone or moved from here
				if old := from.keys[i]; pick(old)&partPresence == 0 {
					write(from.texts[old])
				}
			}
			i++
			write(mix(from, to, k, pick))
			continue
		}
		if pick(k)&partPresence != 0 {
			write(to.texts[k])
		}
	}
	for ; i < len(from.keys); i++ {
		if old := from.keys[i]; pick(old)&partPresence == 0 {
			write(from.texts[old])
		}
	}
	tail, like := from.tail, from.layout
	if pick("tail")&partPresence != 0 {
		tail = to.tail
	}
	if pick("content-type")&partText != 0 {
		like = to.layout
	}
	return like.Encode(strings.TrimPrefix(b.String()+tail, "\n"))
}

// common are the keys of a longest common subsequence, without those that became obsolete.
func common(from, to *version) map[string]bool {
	at := map[string]int{}
	for i, k := range to.keys {
		at[k] = i
	}
	var tops []string // the last key of the best sequence of each length
	before := map[string]string{}
	for _, k := range from.keys {
		n, ok := at[k]
		if !ok || from.spans[k].Entry.Obsolete != to.spans[k].Entry.Obsolete {
			continue
		}
		p, _ := slices.BinarySearchFunc(tops, n, func(top string, n int) int { return at[top] - n })
		if p > 0 {
			before[k] = tops[p-1]
		}
		tops = append(tops[:p], append([]string{k}, tops[min(p+1, len(tops)):]...)...)
	}
	stay := map[string]bool{}
	if len(tops) > 0 {
		k, ok := tops[len(tops)-1], true
		for ; ok; k, ok = before[k] {
			stay[k] = true
		}
	}
	return stay
}

// mix is a string that both versions have, with some parts of the later one.
func mix(from, to *version, k string, pick func(key string) parts) string {
	a, b, p := from.spans[k], to.spans[k], pick(k)
	switch {
	case isHeader(a.Entry) && strings.HasSuffix(a.Entry.Str[0], "\n") && strings.HasSuffix(b.Entry.Str[0], "\n"):
		return mixHeader(from, to, k, pick)
	case p == 0 || from.texts[k] == to.texts[k]:
		return from.texts[k]
	}
	if p == partAll || a.Entry.Obsolete || !a.Lines || !b.Lines || a.Entry.IDPlural != b.Entry.IDPlural || a.Entry.HasPlural != b.Entry.HasPlural {
		if p&partPresence != 0 {
			return to.texts[k]
		}
		return from.texts[k]
	}
	of := func(part parts) (*version, *poparse.Span) {
		if p&part != 0 {
			return to, b
		}
		return from, a
	}
	var flags []string
	if _, s := of(partText); s.Entry.Fuzzy {
		flags = []string{"fuzzy"}
	}
	_, template := of(partTemplate)
	flags = append(flags, template.Entry.Flags...)
	v, s := of(partComments)
	gap := from.texts[k][:len(from.texts[k])-(a.To-a.Comments)]
	out := gap + linesOf(v, s, "")
	v, s = of(partTemplate)
	out += linesOf(v, s, ".") + linesOf(v, s, ":")
	if len(flags) > 0 {
		out += "#, " + strings.Join(flags, ", ") + "\n"
	}
	v, s = of(partText)
	return out + v.layout.Text[s.Previous:s.IDs] + from.layout.Text[a.IDs:a.Str] + v.layout.Text[s.Str:s.To]
}

// linesOf are the comments of a kind.
func linesOf(v *version, s *poparse.Span, kind string) (out string) {
	for line := range strings.Lines(v.layout.Text[s.Comments:s.Previous]) {
		is := ""
		if len(line) > 1 && strings.Contains(".:,|~", line[1:2]) {
			is = line[1:2]
		}
		if is == kind && strings.TrimSpace(line) != "" {
			out += line
		}
	}
	return out
}

// mixHeader takes the lines of a header one by one; "pair" are those of who wrote last.
func mixHeader(from, to *version, k string, pick func(key string) parts) string {
	names := func(v *version) (list []string, of map[string]string) {
		of = map[string]string{}
		for line := range strings.Lines(v.spans[k].Entry.Str[0]) {
			name, _, _ := strings.Cut(line, ":")
			name = strings.ToLower(name)
			list, of[name] = append(list, name), of[name]+line
		}
		return slices.Compact(list), of
	}
	olds, was := names(from)
	news, is := names(to)
	for _, n := range olds {
		if !slices.Contains(news, n) {
			news = append(news, n)
		}
	}
	text := ""
	for _, n := range news {
		key := n
		if n == "po-revision-date" || n == "last-translator" {
			key = "pair"
		}
		if pick(key)&partText != 0 {
			text += is[n]
		} else {
			text += was[n]
		}
	}
	side := from
	if pick(k)&partComments != 0 {
		side = to
	}
	s := side.spans[k]
	out := "\n" + side.layout.Text[s.Comments:s.Previous] + "msgid \"\"\nmsgstr \"\"\n"
	for line := range strings.Lines(text) {
		out += quoted(line)
	}
	return out
}

// said is what a file says of each string, by kinds of fields.
func saidBy(f *poparse.File) map[string][4]string {
	said := map[string][4]string{}
	for _, e := range entriesOf(f) {
		prev := ""
		if e.Previous != nil {
			prev = fmt.Sprintf("%q", *e.Previous)
		}
		state := fmt.Sprint(e.Fuzzy && !TextOf(e).Empty(), prev)
		if isHeader(e) {
			all := strings.SplitAfter(e.Str[0], "\n")
			slices.Sort(all)
			said[keyOf(e)] = [4]string{fmt.Sprintf("%q", all), fmt.Sprintf("%q", lines(e.Comments)), "", "there"}
			continue
		}
		said[keyOf(e)] = [4]string{
			fmt.Sprintf("%q", trim(e.Str)) + state, fmt.Sprintf("%q", lines(e.Comments)),
			fmt.Sprintf("%q %q %q", lines(e.Extracted), e.References, e.Flags), fmt.Sprintf("obsolete %t %q", e.Obsolete, e.IDPlural),
		}
	}
	return said
}

// drawing is a merge whose right answer is known.
type drawing struct {
	name               string
	base, ours, theirs []byte
	want               *version
}

// TestHistories makes merges of versions of real files: the base is one of them, and each side
// makes a drawn half of what changed until a later one, of strings, of parts of strings and of
// lines of the header. The right answer is that later one.
func TestHistories(t *testing.T) {
	t.Parallel()
	var all []*history
	for _, bundle := range bundleNames(t) {
		all = append(all, histories(t, bundle)...)
	}
	most := testsize.Of(20, 100, 10_000)
	dir := t.TempDir()
	var count, exact, skipped, gitConflicts, gitWrong int
	for n := 0; count < most && n < 3*most; n++ {
		d := drawHalves(t, all, n)
		if d == nil {
			skipped++
			continue
		}
		count++
		r, err := Files(d.base, d.ours, d.theirs, Options{})
		why := ""
		switch {
		case err != nil:
			why = err.Error()
		case r.Conflicts > 0:
			why = fmt.Sprintf("%d conflicts", r.Conflicts)
		default:
			why = differs(t, d.want.file, r.Data)
		}
		if why != "" {
			t.Errorf("%s: %s", d.name, why)
			d.keep(t, n, r.Data)
		}
		if bytes.Equal(r.Data, d.want.data) {
			exact++
		}
		if testsize.Nightly() {
			conflicts, data := mergeByGit(t, dir, d.base, d.ours, d.theirs)
			switch {
			case conflicts > 0:
				gitConflicts++
			case differs(t, d.want.file, data) != "":
				gitWrong++
			}
		}
	}
	t.Logf("%d merges, %d others skipped; %d to the byte; git: %d with conflicts, %d wrong", count, skipped, exact, gitConflicts, gitWrong)
}

// keep writes the files of a merge that failed.
func (d *drawing) keep(t *testing.T, n int, got []byte) {
	dir := os.Getenv("REPOGLOT_KEEP")
	if dir == "" {
		return
	}
	for name, data := range map[string][]byte{"base": d.base, "ours": d.ours, "theirs": d.theirs, "want": d.want.data, "got": got} {
		gittest.Must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.%s.po", n, name)), data, 0o600))
	}
}

// drawHalves draws a merge; nil if the drawn versions cannot be taken apart.
func drawHalves(t *testing.T, all []*history, n int) *drawing {
	rng := rand.New(rand.NewPCG(uint64(n), 16))
	h := all[rng.IntN(len(all))]
	i := rng.IntN(len(h.versions) - 1)
	j := min(i+1+rng.IntN(1+rng.IntN(20)), len(h.versions)-1)
	base, later := openVersion(h.read(t, i)), openVersion(h.read(t, j))
	if base == nil || later == nil {
		return nil
	}
	d := &drawing{name: fmt.Sprintf("%d: %s %d..%d", n, h.name, i, j), base: base.data, want: later}
	fine := rng.IntN(2) == 0 // parts of strings, too
	picked := map[string]parts{}
	pick := func(k string) parts {
		p, ok := picked[k]
		if !ok {
			p = []parts{0, partAll}[rng.IntN(2)]
			if fine {
				p = parts(rng.IntN(int(partAll + 1)))
			}
			picked[k] = p
		}
		return p
	}
	var err error
	if d.ours, err = change(base, later, pick); err == nil {
		d.theirs, err = change(base, later, func(k string) parts { return partAll &^ pick(k) })
	}
	if err != nil {
		return nil
	}
	return d
}

// differs says in what a merged file differs from what is right.
func differs(t *testing.T, right *poparse.File, data []byte) string {
	f, err := poparse.Parse("", data)
	if err != nil {
		return err.Error()
	}
	want, got := saidBy(right), saidBy(f)
	var list []string
	for k := range want {
		if _, ok := got[k]; !ok {
			list = append(list, "lacks "+k)
		} else if got[k] != want[k] {
			for i := range got[k] {
				if got[k][i] != want[k][i] {
					list = append(list, fmt.Sprintf("%s: %s, want %s", k, clipped(got[k][i], want[k][i]), clipped(want[k][i], got[k][i])))
				}
			}
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			list = append(list, "has "+k)
		}
	}
	slices.Sort(list)
	return strings.Join(list[:min(len(list), 5)], "\n")
}

// clipped is where a text differs from another one.
func clipped(text, other string) string {
	i := 0
	for i < min(len(text), len(other)) && text[i] == other[i] {
		i++
	}
	return strings.ToValidUTF8(text[max(0, i-20):min(len(text), i+80)], "")
}

// mergeByGit is git merge-file.
func mergeByGit(t *testing.T, dir string, base, ours, theirs []byte) (conflicts int, merged []byte) {
	for name, data := range map[string][]byte{"b": base, "o": ours, "t": theirs} {
		gittest.Must(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	cmd := exec.Command(gittest.NeedGit(t), "merge-file", "-p", "-q", "o", "b", "t")
	cmd.Dir, cmd.Env = dir, gittest.Environment()
	out, _ := cmd.Output()
	return cmd.ProcessState.ExitCode(), out
}
