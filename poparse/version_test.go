package poparse

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/repoglot/repoglot/poparse/gettexttest"
)

// versions compares what a Reader makes of the versions of a file, one after the
// other, with Parse.
type versions struct {
	reader                    Reader
	before                    *Version
	entries                   []Entry // of before
	updates, entriesRead, all int
}

func (v *versions) next(data []byte) error {
	want, wantErr := Parse("x.po", data)
	u := v.reader.NextVersion("x.po", data, v.before)
	if u == nil {
		f, version, err := v.reader.ParseVersion("x.po", data)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			return fmt.Errorf("error %v, want %w", err, wantErr)
		}
		if err == nil {
			v.keep(version, f.Entries)
		}
		return nil
	}
	if wantErr != nil {
		return fmt.Errorf("no error, want %w", wantErr)
	}
	v.updates++
	used := make(map[int]bool)
	got := *u.File
	got.Entries = nil
	for _, e := range u.Entries {
		if e.Before >= 0 && used[e.Before] {
			return fmt.Errorf("entry %d is there twice", e.Before)
		}
		used[e.Before] = true
		next := e.Entry
		switch {
		case next == nil:
			old := v.entries[e.Before]
			old.Line, old.KeywordLine = e.Line, e.KeywordLine
			if e.Moved {
				old.References = e.References
			}
			next = &old
		case next.Line != e.Line || next.KeywordLine != e.KeywordLine:
			return fmt.Errorf("lines %d and %d of %q", e.Line, e.KeywordLine, next.ID)
		case e.Before >= 0:
			if old := v.entries[e.Before]; old.ID != next.ID || old.Context != next.Context || old.IDPlural != next.IDPlural || old.Obsolete != next.Obsolete {
				return fmt.Errorf("%q is not %q", next.ID, old.ID)
			}
		}
		got.Entries = append(got.Entries, next)
	}
	want.source = nil
	if !reflect.DeepEqual(want, &got) { // cmp takes minutes for all
		if diff := cmp.Diff(want, &got, cmpopts.IgnoreUnexported(File{}), cmpopts.EquateEmpty()); diff != "" {
			return fmt.Errorf("(-Parse +NextVersion):\n%s", diff)
		}
	}
	v.all += len(u.Entries)
	v.entriesRead += len(u.File.Entries)
	v.keep(u.Version, got.Entries)
	return nil
}

func (v *versions) keep(version *Version, entries []*Entry) {
	v.before, v.entries = version, nil
	for _, e := range entries {
		old := *e
		old.Str = append([]string(nil), e.Str...) // of memory that is used again
		v.entries = append(v.entries, old)
	}
}

// TestVersionEdits edits a file and says what is read of it again.
func TestVersionEdits(t *testing.T) {
	const header = "# Czech\nmsgid \"\"\nmsgstr \"\"\n\"PO-Revision-Date: 2020\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=2; plural=n != 1;\\n\"\n\n"
	entry := func(i int) string {
		return fmt.Sprintf("#. note %[1]d\n#: a.c:%[1]d b.c:%[1]d\n#, c-format\nmsgid \"string %[1]d\"\nmsgstr \"text %[1]d\"\n\n", i)
	}
	text := header
	for i := range 20 {
		text += entry(i)
	}
	text += "#~ msgid \"gone\"\n#~ msgstr \"g\"\n\n#~ msgid \"lost\"\n#~ msgstr \"l\"\n"
	for _, c := range []struct {
		name, old, new string
		read           int // -1: the whole file
	}{
		{"nothing", "", "", 0},
		{"header", "2020", "2021", 0},
		{"charset", "UTF-8", "utf-8", -1},
		{"plural forms", "nplurals=2", "nplurals=3", -1},
		{"reference", "a.c:7 b.c:7\n", "a.c:70\n#: b.c:71\n", 0},
		{"references gone", "#: a.c:7 b.c:7\n", "", 0},
		{"flag", "#: a.c:7 b.c:7\n#, c-format", "#: a.c:7 b.c:7\n#, fuzzy, c-format", 1},
		{"comment", "note 7\n", "note seven\n", 1},
		{"translation", "text 7\"", "text seven\"", 1},
		{"msgid", "string 7\"", "string seven\"", 1},
		{"repeated msgid", "string 7\"", "string 8\"", -1},
		{"inserted", "#. note 7\n", "#. note\nmsgid \"new\"\nmsgstr \"\"\n\n#. note 7\n", 1},
		{"inserted twin", "#. note 7\n", "#. note\nmsgid \"string 15\"\nmsgstr \"\"\n\n#. note 7\n", -1},
		{"removed", entry(7), "", 0},
		{"many removed", entry(7) + entry(8) + entry(9) + entry(10) + entry(11) + entry(12), "", 2},
		{"moved", entry(2) + entry(3), entry(3) + entry(2), 1},
		{"line ends of one", "msgstr \"text 7\"\n", "msgstr \"text 7\"\r\n", 1},
		{"continued", "msgstr \"text 7\"\n\n", "msgstr \"text 7\"\n\n\"more\"\n", -1},
		{"blank line", "msgstr \"text 7\"\n\n", "msgstr \"text 7\"\n\n\n", 0},
		{"error", "msgstr \"text 7\"\n", "msgstr \"text 7\n", -1},
		{"no msgstr", "msgstr \"text 7\"\n", "", -1},
		{"not UTF-8", "text 7", "text \xff", -1},
		{"not UTF-8 in a reference", "a.c:7", "a.c:\xff", -1},
		{"NUL", "text 7", "text \x00", -1},
		{"obsolete", "#~ msgid \"gone\"\n#~ msgstr \"g\"", "#~ msgid \"gone\"\n#~ msgstr \"h\"", 1},
		{"alive again", "#~ msgid \"gone\"\n#~ msgstr \"g\"", "msgid \"gone\"\nmsgstr \"g\"", 1},
		{"obsolete now", entry(7), "#~ msgid \"string 7\"\n#~ msgstr \"text 7\"\n\n", 1},
		{"domain", "#. note 7\n", "domain \"x\"\n#. note 7\n", -1},
		{"second header", "msgid \"string 7\"", "msgid \"\"", -1},
		{"no header", header, "", -1},
		{"end cut", "\n#~ msgstr \"l\"\n", "\n#~ msgstr \"l\"", 1},
		{"comment at the end", "\n#~ msgstr \"l\"\n", "\n#~ msgstr \"l\"\n# end\n", 0},
		{"prefix alone", "#~ msgid \"gone\"", "#~\n#~ msgid \"gone\"", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Count(text, c.old) != 1 && c.old != "" {
				t.Fatalf("%q is there %d times", c.old, strings.Count(text, c.old))
			}
			var v versions
			must(t, v.next([]byte(text)))
			must(t, v.next([]byte(strings.Replace(text, c.old, c.new, 1))))
			read := -1
			if v.updates > 0 {
				read = v.entriesRead
			}
			if read != c.read {
				t.Errorf("%d entries are read again, want %d", read, c.read)
			}
		})
	}
}

// FuzzNextVersion edits a file twice and compares each version with Parse.
func FuzzNextVersion(f *testing.F) {
	for _, ar := range archives(f) {
		data := ar.Files[0].Data
		f.Add(data, uint16(len(data)/2), uint8(1), []byte("\n"))
		f.Add(data, uint16(len(data)), uint8(0), []byte("\nmsgid \"a\"\nmsgstr \"b\"\n"))
		f.Add(data, uint16(0), uint8(0), []byte("# x\n"))
	}
	const head = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
	f.Fuzz(func(t *testing.T, data []byte, at uint16, remove uint8, insert []byte) {
		var v versions
		for _, data := range [][]byte{data, append([]byte(head), data...)} {
			from := min(int(at), len(data))
			to := min(from+int(remove), len(data))
			edited := bytes.Join([][]byte{data[:from], insert, data[to:]}, nil)
			for i, version := range [][]byte{data, edited, data, append(bytes.Clone(edited), insert...), edited} {
				if err := v.next(bytes.Clone(version)); err != nil {
					t.Fatalf("version %d, %q after %q: %v", i, version, data, err)
				}
			}
		}
	})
}

// TestVersionsOfBundles reads all versions of all files of real repositories, in the
// order of their history.
func TestVersionsOfBundles(t *testing.T) {
	bundles, err := filepath.Glob(filepath.Join(gettexttest.Shared(t, "data", "repos"), "*.bundle"))
	must(t, err)
	for _, bundle := range bundles {
		t.Run(filepath.Base(bundle), func(t *testing.T) {
			dir := cloneBundle(t, bundle)
			list := historyOf(t, dir)
			if testing.Short() {
				list = list[:min(len(list), 200)]
			}
			byPath := make(map[string]*versions)
			for chunk := range slices.Chunk(list, 200) {
				readBlobs(t, dir, chunk)
				for i := range chunk {
					b := &chunk[i]
					v := byPath[b.path]
					if v == nil {
						v = new(versions)
						byPath[b.path] = v
					}
					if err := v.next(b.data); err != nil {
						t.Errorf("%s at %s: %v", b.path, b.id, err)
						v.before = nil
					}
					b.data = nil
				}
			}
			var all versions
			for _, v := range byPath {
				all.updates, all.entriesRead, all.all = all.updates+v.updates, all.entriesRead+v.entriesRead, all.all+v.all
			}
			t.Logf("%d versions of %d files, %d compared with the one before, %d of %d entries of these read",
				len(list), len(byPath), all.updates, all.entriesRead, all.all)
			if all.updates == 0 && len(list) > 2*len(byPath) {
				t.Error("none could be compared")
			}
		})
	}
}

// historyOf lists the versions of PO files in the first-parent history.
func historyOf(t *testing.T, dir string) (list []blob) {
	out := git(t, dir, "log", "--reverse", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=", "--", "*.po", "*.pot")
	for line := range strings.Lines(string(out)) {
		meta, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		fields := strings.Fields(meta)
		if ok && len(fields) == 5 && fields[1] == "100644" {
			list = append(list, blob{path: path, id: fields[3]})
		}
	}
	return list
}
