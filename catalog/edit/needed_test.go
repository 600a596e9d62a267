package edit

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/utils/diff"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// TestNeededLines replays histories whose maintainers commit msgmerge often, with edits only: a
// file changes if somebody changes a text, and gets what it lacks of the template with its
// translation. After each commit it has all translations of the real file that the template has.
// It counts the lines that both change; the README has those of switchboard.
func TestNeededLines(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it replays histories")
	}
	for name, want := range map[string]needed{
		"dnf-plugins-core": {37, 197_277, 70_589, 6, 2_643},
		"switchboard":      {945, 286_077, 31_605, 140, 213_777},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := neededLines(t, name); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

// needed are the lines that the commits of a history added and deleted in files that have a
// template, and those that edits add and delete instead. Idle commits changed such files, and no
// text: their lines are among the others.
type needed struct{ commits, lines, edits, idle, idleLines int }

// neededLines replays the commits of a bundle along the first parents.
func neededLines(t *testing.T, bundle string) (n needed) {
	t.Helper()
	dir := gittest.Bundle(t, bundle)
	objects, err := object.Open(dir)
	gittest.Must(t, err)
	defer objects.Close()
	r := &replay{t: t, objects: objects, now: map[string]string{}, kept: map[string][]byte{}}
	log := gittest.RunGit(t, dir, "-c", "core.quotepath=off", "log", "--first-parent", "-m", "--reverse", "--raw", "--no-abbrev", "--no-renames", "--format=commit %ct %an", "HEAD")
	for _, commit := range strings.Split("\n"+log, "\ncommit ")[1:] {
		head, changes, _ := strings.Cut(commit, "\n")
		seconds, name, _ := strings.Cut(head, " ")
		when, err := strconv.ParseInt(seconds, 10, 64)
		gittest.Must(t, err)
		r.author = Author{Name: name, Email: "somebody@example.org", Time: time.Unix(when, 0)}
		lines, edits := r.step(changes)
		n.lines += lines
		n.edits += edits
		if lines > 0 {
			n.commits++
		}
		if lines > 0 && edits == 0 {
			n.idle++
			n.idleLines += lines
		}
	}
	return n
}

// replay is a history so far.
type replay struct {
	t       *testing.T
	objects *object.Store
	author  Author
	now     map[string]string // of each path: the blob
	kept    map[string][]byte // of each file: its bytes with edits only
}

// step counts the lines that a commit changed in files, and those that edits change.
func (r *replay) step(changes string) (lines, edits int) {
	before := maps.Clone(r.now)
	var files []string
	for line := range strings.Lines(changes) {
		info, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		fields := strings.Fields(info)
		if ext := path.Ext(name); !ok || ext != ".po" && ext != ".pot" || fields[1] == "120000" {
			continue
		}
		if r.now[name] = fields[3]; fields[4] == "D" {
			delete(r.now, name)
			delete(r.kept, name)
			continue
		}
		if path.Ext(name) == ".po" {
			files = append(files, name)
		}
	}
	var template *poparse.File
	for _, name := range files {
		now := r.blob(r.now[name])
		was, known := r.kept[name]
		if template == nil || path.Dir(template.Name) != path.Dir(name) {
			template = r.template(path.Dir(name))
		}
		if !known || template == nil { // what has no template stays out of the count
			r.kept[name] = now
			continue
		}
		old := r.blob(before[name])
		lines += changedCount(old, now)
		r.kept[name] = r.edited(name, was, old, now, template)
		r.compare(name, now, template)
		edits += changedCount(was, r.kept[name])
	}
	return lines, edits
}

// blob returns the bytes of a blob.
func (r *replay) blob(id string) []byte {
	hash, err := object.ParseHash(id)
	gittest.Must(r.t, err)
	data, err := r.objects.Blob(hash, 64<<20)
	gittest.Must(r.t, err)
	return data
}

// template reads the template of a folder; nil if there is none that can be read.
func (r *replay) template(dir string) *poparse.File {
	for _, name := range slices.Sorted(maps.Keys(r.now)) {
		if path.Ext(name) == ".pot" && path.Dir(name) == dir {
			if f, err := poparse.Parse(name, r.blob(r.now[name])); err == nil {
				return f
			}
		}
	}
	return nil
}

// edited returns a file with what people changed from old to now. What is no edit, such as another
// header, or cannot be one, has the whole file be that of now.
func (r *replay) edited(name string, kept, old, now []byte, template *poparse.File) []byte {
	was, err1 := poparse.Parse(name, old)
	is, err2 := poparse.Parse(name, now)
	mine, err3 := poparse.Parse(name, kept)
	if err1 != nil || err2 != nil || err3 != nil {
		return now
	}
	merged, err := msgmerge.Merge(was, template, msgmerge.Options{})
	if h := header(is); err != nil || h != header(was) && h != header(merged.File) {
		return now
	}
	machine, ours, known := indexEntries(merged.File), indexEntries(mine), indexEntries(template)
	var edits []Edit
	for key, e := range indexEntries(is) {
		m, o := machine[key], ours[key]
		if m != nil && !slices.Equal(m.Comments, e.Comments) {
			return now
		}
		text, base := TextOf(e), Text{State: catalog.StateAbsent}
		if o != nil {
			base = TextOf(o)
		}
		if text.Equal(base) || text.State != catalog.StateTranslated && (m == nil || TextOf(m).Equal(text) || o == nil && text.State == catalog.StateEmpty) {
			continue
		}
		if known[key] == nil {
			if o == nil && text.State == catalog.StateTranslated {
				return now
			}
			continue
		}
		edits = append(edits, Edit{Context: e.Context, Source: SourceOf(e), Base: base, Ours: text, Authors: []Author{r.author}})
	}
	if len(edits) == 0 {
		return kept
	}
	out, results, err := Apply(name, kept, edits, Options{Overrule: true, Revision: r.author.Time, Template: template})
	if err != nil || slices.ContainsFunc(results, func(r Result) bool { return r.Outcome != Applied && r.Outcome != Done }) {
		return now
	}
	return out
}

// compare asks that no translation of a file is missing in the one with edits only.
func (r *replay) compare(name string, now []byte, template *poparse.File) {
	is, err := poparse.Parse(name, now)
	mine, err2 := poparse.Parse(name, r.kept[name])
	if err != nil || err2 != nil {
		return
	}
	ours := indexEntries(mine)
	known := indexEntries(template)
	for id, e := range indexEntries(is) {
		if text := TextOf(e); known[id] != nil && text.State == catalog.StateTranslated && (ours[id] == nil || !TextOf(ours[id]).Equal(text)) {
			r.t.Fatalf("%s by %s: %q lacks %q", name, r.author.Name, e.ID, text.Target)
		}
	}
}

// header is what people write into a header: without the fields of tools.
func header(f *poparse.File) string {
	if f.Header == nil {
		return ""
	}
	var fields []string
	for line := range strings.Lines(strings.Join(f.Header.Str, "")) {
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "POT-Creation-Date", "PO-Revision-Date", "Last-Translator", "X-Generator", "X-Launchpad-Export-Date", "Report-Msgid-Bugs-To", "Language-Team":
		default:
			fields = append(fields, line)
		}
	}
	slices.Sort(fields)
	return strings.Join(fields, "")
}

// changedCount is the number of lines that were added and deleted.
func changedCount(old, now []byte) (n int) {
	for _, d := range diff.Do(string(old), string(now)) {
		if d.Type != 0 {
			n += strings.Count(d.Text, "\n")
		}
	}
	return n
}

func TestMain(m *testing.M) { gittest.Main(m) }
