package poparse

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse checks any input: no panic, only errors of the documented type with a
// position inside the file, strings that are UTF-8 without NUL, and bounded memory.
func FuzzParse(f *testing.F) {
	for _, ar := range archives(f) {
		f.Add(ar.Files[0].Data)
	}
	for _, s := range []string{
		"\xff\xfem\x00s\x00g\x00", "m\x00s\x00g\x00i\x00d\x00", "\xef\xbb\xbf", "msgid\"\\0\\0\"msgstr\"\\377\"",
		"msgid \"\"\nmsgstr \"charset=CP932\"\nmsgid \"\x83\x5c\\\"\nmsgstr \"\\202\\240\"\n",
		"msgid \"a\nb\"\nfoo\nmsgstr \"\\q\n\"\n# c\nmsgstr \"\"\n<<<<<<< a\nmsgid \"\xff\n=======\n\n>>>>>>> b\nx",
		"#~|#|#~#", "msgid\"\"msgstr\"\"\nmsgid\"\"msgstr\"\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		file, err := Parse("x.po", data)
		runtime.ReadMemStats(&after)
		checkErrors(t, err, data)
		if err != nil {
			return
		}
		checkFile(t, file)
		// The bound of Parse. A file in another charset, or with a header that
		// shares its line, costs more. Other goroutines of the fuzzer allocate, too.
		if got := after.TotalAlloc - before.TotalAlloc; file.source.raw == "" &&
			got > uint64(3*len(data)+400*bytes.Count(data, []byte("msgid"))+6<<20) {
			t.Errorf("%d bytes in %d entries: %d bytes allocated", len(data), len(file.Entries), got)
		}
	})
}

func checkError(t *testing.T, err error, data []byte) {
	t.Helper()
	var se *SyntaxError
	if !errors.As(err, &se) {
		t.Fatalf("not a *SyntaxError: %v", err)
	}
	if se.Line < 1 || se.Column < 1 || se.Offset < 0 || se.Offset > 3*len(data)+3 || se.Msg == "" {
		t.Errorf("%+v for %d bytes", se, len(data))
	}
	if !utf8.ValidString(se.Msg) {
		t.Errorf("message is not UTF-8: %q", se.Msg)
	}
}

// checkErrors compares Errors with Parse.
func checkErrors(t *testing.T, err error, data []byte) {
	t.Helper()
	list, more := Errors("x.po", data)
	if err == nil {
		if list != nil || more {
			t.Errorf("Parse reads it, Errors has %v", list)
		}
		return
	}
	if len(list) == 0 || len(list) > MaxErrors || more && len(list) < MaxErrors {
		t.Errorf("%d errors, more %v", len(list), more)
	}
	found := false
	for i, e := range list {
		checkError(t, e, data)
		found = found || e.Error() == err.Error()
		if i > 0 && (e.Line < list[i-1].Line || e.Line == list[i-1].Line && e.Column <= list[i-1].Column) {
			t.Errorf("%v after %v", e, list[i-1])
		}
	}
	if !found && !more {
		t.Errorf("Errors has %v, but not %v", list, err)
	}
}

func checkFile(t *testing.T, file *File) {
	t.Helper()
	line := 0
	for i := range file.Entries {
		e := file.Entries[i]
		if e.Line < 1 || e.Line > e.KeywordLine || e.KeywordLine < line {
			t.Errorf("entry %d: lines %d, %d after %d", i, e.Line, e.KeywordLine, line)
		}
		line = e.KeywordLine
		if len(e.Str) == 0 || !e.HasPlural && len(e.Str) != 1 || len(e.Str) > maxPlurals {
			t.Errorf("entry %d: %d forms, plural %v", i, len(e.Str), e.HasPlural)
		}
		if e.ID == "" && !e.HasContext && !e.Obsolete {
			t.Errorf("entry %d is a header", i)
		}
		single := []string{e.ID, e.IDPlural, e.Context, e.Domain}
		if prev := e.Previous; prev != nil {
			single = append(single, prev.ID, prev.IDPlural, prev.Context)
		}
		for _, list := range [][]string{single, e.Str, e.Flags, e.References, e.Comments, e.Extracted} {
			for _, s := range list {
				if !utf8.ValidString(s) {
					t.Errorf("entry %d: not UTF-8: %q", i, s)
				}
				for _, c := range []byte(s) {
					if c == 0 {
						t.Errorf("entry %d: NUL in %q", i, s)
					}
				}
			}
			if len(list) != cap(list) && &list[0] != &single[0] {
				t.Errorf("entry %d: a slice with %d elements has room for %d", i, len(list), cap(list))
			}
		}
	}
	for i, w := range file.Warnings {
		if w.Line < 1 || w.Column < 1 || w.Code == "" || !utf8.ValidString(w.Msg) {
			t.Errorf("warning %+v", w)
		}
		if i > 0 && w.Code != WarnMore && w.Line < file.Warnings[i-1].Line {
			t.Errorf("warning %d is not in file order: %+v", i, w)
		}
	}
	file.PluralForms()
}

// TestHostile checks the bounds with inputs made to break them.
func TestHostile(t *testing.T) {
	const mib = 1 << 20
	sizes, more := []int{mib, 8 * mib}, 0
	if underRace { // all that is bound is bound by the size
		sizes, more = sizes[:1], mib // a copy that the compiler leaves out else
	}
	inputs := map[string][]byte{}
	for _, size := range sizes {
		for name, data := range hostile(size) {
			inputs[fmt.Sprintf("%s/mib=%d", name, size/mib)] = data
		}
	}
	for name, data := range inputs {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			file, err := Parse("x.po", data)
			runtime.ReadMemStats(&after)
			got := int(after.TotalAlloc - before.TotalAlloc)
			t.Logf("%d bytes: %.1f times allocated", len(data), float64(got)/float64(len(data)))
			// The bound of Parse and a constant, also if there is an error.
			limit := 3*len(data) + 400*bytes.Count(data, []byte("msgid")) + 3*mib + more
			if got > limit {
				t.Errorf("%d bytes: %d bytes allocated, more than %d", len(data), got, limit)
			}
			runtime.ReadMemStats(&before)
			checkErrors(t, err, data)
			runtime.ReadMemStats(&after)
			// Twice the bound, and the memory of a list of errors.
			if all := int(after.TotalAlloc - before.TotalAlloc); err != nil && all > 2*limit {
				t.Errorf("%d bytes: %d bytes allocated for all errors, more than %d", len(data), all, 2*limit)
			}
			if err != nil {
				return
			}
			checkFile(t, file)
			if len(file.Warnings) > maxWarnings+1 {
				t.Errorf("%d warnings", len(file.Warnings))
			}
		})
	}
}

func hostile(n int) map[string][]byte {
	repeat := func(before, part, after string) []byte {
		return []byte(before + strings.Repeat(part, n/len(part)) + after)
	}
	const end = "\nmsgid \"a\"\nmsgstr \"b\"\n"
	return map[string][]byte{
		"empty comments":      repeat("", "#\n", end),
		"references":          repeat("#:", " a", end),
		"isolates":            repeat("#:", "\u2068", end),
		"flags":               repeat("#,", "a,b,", end),
		"flag quotes":         repeat("#,", ":\"", end),
		"flag colons":         repeat("#,", "a: ", end),
		"unclosed":            repeat("msgid \"", "x", ""),
		"unclosed escapes":    repeat("msgid \"", "\\\"", ""),
		"escaped NUL":         repeat("msgid \"", "\\0", "\"\nmsgstr \"\""),
		"raw NUL":             repeat("msgid \"", "\x00x", "\"\nmsgstr \"\""),
		"bad escapes":         repeat("msgid \"", "\\377", "\"\nmsgstr \"\""),
		"domains":             repeat("", "domain \"\"\n", ""),
		"headers":             repeat("", "msgid \"\" msgstr \"\"\n", ""),
		"prefixes":            repeat("", "#~", ""),
		"hex":                 repeat("msgid \"\\x", "f", "\"\nmsgstr \"\""),
		"plural indices":      repeat("msgid \"a\" msgid_plural \"b\" msgstr[", "9", "] \"\""),
		"repeated index":      repeat("msgid \"a\" msgid_plural \"b\"", "msgstr[0] \"\"", ""),
		"header never closed": repeat("msgid \"\"\nmsgstr \"\"\n", "\"charset\\n\"\n", ""),
		"many charsets":       repeat("msgid \"\"\nmsgstr \"", "charset", "\"\n"),
		"tiny then huge":      append([]byte(strings.Repeat("msgid\"a\"msgstr\"\"", 100)), repeat("#", "x", "")...),
		"open pot lines":      repeat("msgid \"\"\n", "\"\"\n", ""),
	}
}

// FuzzWrite checks that a file that parses is written back with the same bytes, that
// its entries, written as new ones, are read as the same entries, and that a changed
// entry changes no other one.
func FuzzWrite(f *testing.F) {
	for _, ar := range archives(f) {
		f.Add(ar.Files[0].Data)
	}
	for _, s := range []string{
		"msgid\"a\"msgstr\"\"# c\nmsgid\"b\"msgstr\"\"",
		"#: \xe2\x81\xa8a b\xe2\x81\xa9:1\nmsgid\"a\"\nmsgstr\"\"\r\n#tail",
		"\xff\xfem\x00s\x00g\x00i\x00d\x00\"\x00a\x00\"\x00m\x00s\x00g\x00s\x00t\x00r\x00\"\x00\"\x00",
		"#, a:\"b, c\"\n#, fuzzy\nmsgid\"a\"\nmsgid_plural\"b\"\nmsgstr[1]\"\"\n",
		"#, a:\"b, zy\n#, fuzc\"\nmsgid\"a\"\nmsgid_plural\"b\"\nmsgstr[1]\"\"\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 1<<16 {
			checkWritten(t, "x.po", data)
		}
	})
}
