package poparse

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestReader reads all cases of TestGolden with one Reader, forwards and backwards. Each
// result equals that of Parse, and its strings stay valid after the next call.
func TestReader(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for i := len(files) - 1; i >= 0; i-- {
		files = append(files, files[i])
	}
	var r Reader
	var kept, ids []string
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		must(t, err)
		data := input(t, ar)
		want := describe(Parse("in.po", data))
		f, err := r.Parse("in.po", data)
		if diff := cmp.Diff(want, describe(f, err)); diff != "" {
			t.Errorf("%s (-Parse +Reader):\n%s", file, diff)
		}
		if err == nil && len(f.Entries) > 0 {
			kept, ids = append(kept, f.Entries[0].ID), append(ids, string([]byte(f.Entries[0].ID)))
		}
	}
	if diff := cmp.Diff(ids, kept); diff != "" || len(ids) == 0 {
		t.Errorf("strings of files read before changed:\n%s", diff)
	}
}

// TestReaderForgets checks that the entries of a file do not keep the text of an
// earlier, longer file in memory.
func TestReaderForgets(t *testing.T) {
	var r Reader
	rich := "#: a.c:1\n#, c-format\n#. note\n# note\n#| msgid \"p\"\nmsgctxt \"c\"\nmsgid \"%d\"\nmsgid_plural \"b\"\nmsgstr[0] \"0\"\nmsgstr[1] \"1\"\n\n" +
		"msgid \"s %[1]d\"\nmsgstr \"t\"\n\n"
	var long strings.Builder
	for i := range 500 {
		fmt.Fprintf(&long, rich, i)
	}
	if _, err := r.Parse("long.po", []byte(long.String())); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Parse("broken.po", []byte("msgid \"a\"\nmsgstr \"b\"\nmsgid \"c\"\n")); err == nil {
		t.Fatal("no error")
	}
	short := "msgid \"a\"\nmsgstr \"x\"\n\nmsgid \"b\"\nmsgid_plural \"c\"\nmsgstr[0] \"x\"\nmsgstr[1] \"y\"\n"
	f, err := r.Parse("short.po", []byte(short))
	must(t, err)
	want, err := Parse("short.po", []byte(short))
	must(t, err)
	if diff := cmp.Diff(want.Entries, f.Entries, cmp.AllowUnexported(Entry{})); diff != "" {
		t.Errorf("entries (-Parse +Reader):\n%s", diff)
	}
	used := 0
	for _, block := range r.slots.kept {
		for i := range block {
			if s := &block[i]; !reflect.DeepEqual(*s, slot{}) {
				if used++; s.str[0] != "" && s.str[0] != "x" {
					t.Errorf("%q is still there", s.str[0])
				}
			}
		}
	}
	if used != len(f.Entries) {
		t.Errorf("%d entries of earlier files are still there", used-len(f.Entries))
	}
	for _, e := range r.entries[len(f.Entries):cap(r.entries)] {
		if e != nil {
			t.Fatal("an entry of an earlier file is still in the list")
		}
	}
}
