package poparse

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestStringsAgainstMsgcat compares our strings with msgcat's, in the cases of testdata
// and in the awkward files. TestWriteBundles does the same with the bundles.
func TestStringsAgainstMsgcat(t *testing.T) {
	gittest.Need(t, "msgfmt")
	read := map[string]int{}
	for name, ar := range archives(t) {
		read["testdata"] += compareStrings(t, name, input(t, ar))
	}
	awkward := gittest.Shared(t, "data", "repos", "awkward")
	for _, pattern := range []string{"*.po", filepath.Join("synthetic", "*.po")} {
		files, err := filepath.Glob(filepath.Join(awkward, pattern))
		must(t, err)
		for _, name := range files {
			data, err := os.ReadFile(name)
			must(t, err)
			read["awkward"] += compareStrings(t, name, data)
		}
	}
	if read["testdata"] < 100 || read["awkward"] < 10_000 {
		t.Errorf("only %v entries compared", read)
	}
}

// compareStrings compares a file that both msgcat and we can read, and returns the
// number of entries. It skips files with NUL, which we read differently, and files of a
// header alone, of which msgcat writes nothing.
func compareStrings(t *testing.T, name string, data []byte) int {
	t.Helper()
	text, ok := msgcat(t, data)
	ours, err := Parse(name, data)
	if err != nil || !ok || text == "" || bytes.IndexByte(data, 0) >= 0 {
		return 0
	}
	theirs, err := Parse(name, []byte(text))
	if err != nil {
		t.Errorf("%s: what msgcat wrote: %v", name, err)
		return 0
	}
	return sameStrings(t, ours, theirs)
}

// sameStrings compares a file with the output of msgcat.
func sameStrings(t *testing.T, ours, theirs *File) int {
	t.Helper()
	got := messages(ours)
	if diff := cmp.Diff(messages(theirs), got); diff != "" {
		t.Errorf("%s (-msgcat +ours)\n%s", ours.Name, diff)
	}
	return len(got)
}

// message has the fields of an entry that msgcat keeps and writes in one way only. We
// read flags differently on purpose; other tests count them.
type message struct {
	Domain, Context, ID, IDPlural   string
	HasContext, HasPlural, Obsolete bool
	Str, References                 []string
	Previous                        Previous
}

// messages lists the header and the entries, obsolete ones last, as msgcat does.
func messages(f *File) (list []message) {
	entries := f.Entries
	if f.Header != nil {
		entries = append([]*Entry{f.Header}, entries...)
	}
	for _, obsolete := range []bool{false, true} {
		for _, e := range entries {
			if e.Obsolete != obsolete || obsolete && strings.Join(e.Str, "") == "" {
				continue // msgcat drops obsolete entries without a translation
			}
			m := message{
				e.Domain, e.Context, e.ID, e.IDPlural,
				e.HasContext, e.HasPlural, e.Obsolete,
				e.Str, e.References,
				Previous{},
			}
			if e.Previous != nil {
				m.Previous = *e.Previous
			}
			list = append(list, m)
		}
	}
	return list
}
