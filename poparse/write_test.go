package poparse

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

func written(t testing.TB, f *File) string {
	t.Helper()
	var b bytes.Buffer
	n, err := f.WriteTo(&b)
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(b.Len()) {
		t.Errorf("WriteTo says %d bytes, wrote %d", n, b.Len())
	}
	return b.String()
}

// TestWriteUnchanged writes every file of testdata and of the awkward ones
// that parses: not a byte may differ.
func TestWriteUnchanged(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checkWritten(t, file, input(t, ar))
	}
	awkward, err := filepath.Glob(filepath.Join("..", "..", "shared", "data", "repos", "awkward", "*.po"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range awkward {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checkWritten(t, file, data)
	}
}

// checkWritten checks what must hold for any file: written unchanged it has
// the same bytes; with every entry written anew, the same entries; and one
// changed entry changes no other line.
func checkWritten(t *testing.T, name string, data []byte) {
	t.Helper()
	f, err := Parse(name, data)
	if err != nil {
		return
	}
	if got := written(t, f); got != string(data) {
		t.Errorf("%s: written unchanged: %s", name, cmp.Diff(string(data), got))
	}
	fresh := renderAll(t, f)
	again, err := Parse(name, []byte(fresh))
	if err != nil {
		t.Errorf("%s: all entries written anew: %v\n%s", name, err, fresh)
		return
	}
	compareFiles(t, name, f, again)
	changeEach(t, name, data)
}

// renderAll writes all entries of a file as new ones of a file made by hand.
func renderAll(t testing.TB, f *File) string {
	t.Helper()
	byHand := &File{Name: f.Name, OtherHeaders: bytesOf(f.OtherHeaders), Entries: bytesOf(f.Entries)}
	if f.Header != nil {
		h := *f.Header
		// Text read from another charset is written in UTF-8 here.
		if len(h.Str) > 0 {
			if name, at := charsetOf(h.Str[0]); at >= 0 {
				h.Str = append([]string{h.Str[0][:at] + "UTF-8" + h.Str[0][at+len(name):]}, h.Str[1:]...)
			}
		}
		h.KeywordLine = 0
		byHand.Header = &h
	}
	return written(t, byHand)
}

// bytesOf copies entries without their place.
func bytesOf(entries []Entry) []Entry {
	out := append([]Entry(nil), entries...)
	for i := range out {
		out[i].KeywordLine = 0
	}
	return out
}

func compareFiles(t *testing.T, name string, want, got *File) {
	t.Helper()
	if len(want.Entries) != len(got.Entries) {
		t.Errorf("%s: %d entries, want %d", name, len(got.Entries), len(want.Entries))
		return
	}
	for i := range want.Entries {
		if compareEntries(&want.Entries[i], &got.Entries[i]) != allParts || want.Entries[i].Domain != got.Entries[i].Domain {
			t.Errorf("%s: entry %d (-want +got):\n%s", name, i, cmp.Diff(want.Entries[i], got.Entries[i]))
			return
		}
	}
}

// changeEach changes a few entries, one after the other.
func changeEach(t *testing.T, name string, data []byte) {
	t.Helper()
	f, err := Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	step := max(1, len(f.Entries)/5)
	for i := 0; i < len(f.Entries); i += step {
		e := &f.Entries[i]
		was := *e
		e.Str = append([]string{"changed\nanew"}, e.Str[1:]...)
		e.Fuzzy = !e.Fuzzy
		var b strings.Builder
		if _, err := f.WriteTo(&b); err != nil {
			// Escapes can have what the charset has not.
			if !strings.Contains(err.Error(), "is not in the charset") || !hasNumbers(f.source.text) {
				t.Errorf("%s: entry %d changed: %v", name, i, err)
			}
			*e = was
			continue
		}
		got := b.String()
		again, err := Parse(name, []byte(got))
		if err != nil {
			t.Errorf("%s: entry %d changed: %v", name, i, err)
			return
		}
		compareFiles(t, name, f, again)
		head := commonLines(string(data), got)
		if lines := strings.Count(string(data[:head]), "\n") + 1; was.Line > lines {
			t.Errorf("%s: the change of entry %d on line %d shows on line %d", name, i, was.Line, lines)
		}
		*e = was
	}
	if got := written(t, f); got != string(data) {
		t.Errorf("%s: changed back: %s", name, cmp.Diff(string(data), got))
	}
}

// commonLines returns the length of what two texts have in common.
func commonLines(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// msgcat returns what GNU msgcat makes of a file.
func msgcat(t *testing.T, data []byte) (string, bool) {
	t.Helper()
	cmd := exec.Command("msgcat", "-")
	cmd.Stdin = bytes.NewReader(data)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "LANGUAGE=C")
	out, err := cmd.Output()
	return string(out), err == nil
}

// compareWithMsgcat holds our form of every entry to msgcat's, byte by byte,
// and returns how many there are.
func compareWithMsgcat(t *testing.T, name string, data []byte) int {
	t.Helper()
	want, ok := msgcat(t, data)
	if !ok || strings.Contains(want, "\r\n") { // it keeps CR in comments, but not elsewhere
		return 0
	}
	f, err := Parse(name, []byte(want))
	if err != nil {
		if strings.HasSuffix(name, "src/po/zh_TW.po") {
			return 0 // msgcat cuts comments at a trail byte 0x5C
		}
		t.Errorf("%s: what msgcat wrote: %v", name, err)
		return 0
	}
	if got := written(t, f); got != want {
		t.Errorf("%s: what msgcat wrote is not given back: %s", name, cmp.Diff(want, got))
	}
	rec := &record{all: true}
	if _, err := scan(name, f.source.decoded, rec); err != nil {
		t.Fatal(err)
	}
	for i := range rec.entries {
		e := &rec.entries[i]
		var b strings.Builder
		newRenderer(&b, "\n", isAsianCharset(f.Charset)).entry(e)
		text := f.source.text[rec.spans[i].from[partComments]:rec.spans[i].to]
		if b.String() != text {
			t.Errorf("%s:%d (-msgcat +ours)\n%s", name, e.Line, cmp.Diff(text, b.String()))
		}
	}
	return len(rec.entries)
}

// TestWriteBundles writes files of the bundles, and compares their form with
// msgcat's: a few of each bundle, all if long tests are asked for.
func TestWriteBundles(t *testing.T) {
	_, err := exec.LookPath("msgcat")
	oracle := err == nil
	bundles, err := filepath.Glob(filepath.Join(sharedDir(t, "data", "repos"), "*.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bundle := range bundles {
		t.Run(strings.TrimSuffix(filepath.Base(bundle), ".bundle"), func(t *testing.T) {
			path, err := filepath.Abs(bundle)
			if err != nil {
				t.Fatal(err)
			}
			files := headFiles(t, cloneBundle(t, path), ".po")
			step := 1 + len(files)/8
			if os.Getenv("REPOGLOT_LONG_TESTS") != "" {
				step = 1
			}
			n := 0
			for i := 0; i < len(files); i += step {
				checkWritten(t, files[i].path, files[i].data)
				if oracle {
					n += compareWithMsgcat(t, files[i].path, files[i].data)
				}
			}
			t.Logf("%d entries compared with msgcat", n)
		})
	}
	if !oracle {
		t.Log("msgcat is not installed: not compared with it")
	}
}
