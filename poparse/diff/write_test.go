package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// written writes a report in a format.
func written(t *testing.T, r *Report, write func(io.Writer, *Report) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func plainText(w io.Writer, r *Report) error { return WriteText(w, r, false) }

func TestText(t *testing.T) {
	new := strings.NewReplacer("The text in the middle: %s\"", "The file in the middle: %s\"", "erster", "der erste", "#: a.c:1", "#: b.c:1", "2024-01-01 10", "2024-01-01 11",
		"Language: de", "Language: de_AT", "yet\"\nmsgstr \"\"", "yet\"\nmsgstr \"##vso[x]\\t\\033\"").Replace(body)
	files := []File{
		Files("po/de.po", []byte(body), []byte(new), Options{Language: "de"}), Files("po/cs.po", nil, []byte(body), Options{Language: "cs"}),
		Files("po/fr.po", []byte(body), []byte("oops"), Options{Language: "fr"}),
	}
	files[0].Checks = []Check{{Source: "first of the texts", Check: "x", Message: "Ends with a \x1b[31m"}}
	r := New(files, 0)
	want := `1 string reworded, 1 text new, 1 changed, 1 header field changed, 1 check newly failing, 1 file added, 1 file unreadable
Only counted: 1 reference, 1 date.

source strings
  ~ The [-text-]{+file+} in the middle: %s (88 % alike)

po/cs.po: is new: 5 strings, 3 translated, 1 fuzzy

po/de.po: 1 string reworded, 1 text new, 1 changed, 1 header field changed, 1 check newly failing
  * Language: de{+_AT+}
  * first of the texts (text changed)
      text: [-erster-]{+der erste+}
  * without a text yet (text new)
      text: {+#⟨U+0023⟩vso[x]→⟨U+001B⟩+}
  ! first of the texts: Ends with a ⟨U+001B⟩[31m

po/fr.po: cannot be read: po/fr.po:1:1: unknown word "oops"
`
	got := written(t, &r, plainText)
	got = regexp.MustCompile(`unknown word.*|cannot be read: po/fr.po:1:1: .*`).ReplaceAllString(got, `cannot be read: po/fr.po:1:1: unknown word "oops"`)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	colored := written(t, &r, func(w io.Writer, r *Report) error { return WriteText(w, r, true) })
	if got := strings.NewReplacer("\x1b[31m", "", "\x1b[32m", "", "\x1b[1m", "", "\x1b[m", "").Replace(colored); strings.Contains(got, "\x1b") || !strings.Contains(colored, "The \x1b[31mtext\x1b[m\x1b[32mfile\x1b[m in") {
		t.Errorf("%q", colored)
	}
	var back Report
	if err := json.Unmarshal([]byte(written(t, &r, WriteJSON)), &back); err != nil || !cmp.Equal(back, r) {
		t.Errorf("%v %s", err, cmp.Diff(r, back))
	}
	equal := New([]File{Files("a.po", []byte(body), []byte(body), Options{})}, 0)
	if got := written(t, &equal, plainText); got != "no difference in meaning\n" {
		t.Error(got)
	}
}

// hostile are texts that want to be markup.
var hostile = []string{
	"</details>", "<img src=x onerror=alert(1)>", "<!-- repoglot diff -->", "```", "`", "``a`", " ` ", "a | b \\| c", "\n/close\n", "\n\n# head\n", "@all #1 !2 www.example.org",
	"[a](javascript:alert(1))", "**b** ~~c~~ __d__", "\\", "&lt;b&gt;", "\x1b[2J", "\u202eabc", "::error::x", "\n::error::x", "{{.}}", "</title><script>", "\"'><b>", "- a\n- b", "  ", "\u2028x",
}

// hostileReport has texts in every place of a report.
func hostileReport(texts []string, strings int) *Report {
	pick := func(i int) string { return texts[i%len(texts)] }
	var files []File
	for n := range 5 {
		f := File{Path: pick(n) + ".po", Group: pick(n), Language: pick(n + 1), Status: Changed, Error: pick(n + 3)}
		for i := range strings {
			context := pick(i + n)
			s := String{
				Kind: "reworded", Changes: []string{"text", "comment", "note"}, Context: &context, Source: pick(i), OldSource: pick(i + 1), Plural: pick(i + 2),
				Old: &Text{[]string{pick(i + 3)}, "fuzzy"}, New: &Text{[]string{pick(i + 4), pick(i + 5)}, "translated"},
				Lines: []Lines{{"comment", []string{pick(i + 6)}, []string{pick(i + 7)}}, {"note", nil, []string{pick(i)}}}, Origin: &Origin{pick(i), pick(i + 1), pick(i), pick(i), pick(i + 2)},
			}
			f.Strings, f.Counts.Reworded, f.Counts.Texts = append(f.Strings, s), f.Counts.Reworded+1, f.Counts.Texts+1
			f.Header = append(f.Header, Field{pick(i), pick(i + 1), pick(i + 2)})
			f.Checks = append(f.Checks, Check{1, &context, pick(i), pick(i + 1), pick(i + 2)})
		}
		if n == 4 {
			f.Status = Unreadable
		}
		files = append(files, f)
	}
	r := New(files, 0)
	return &r
}

// codeSpan matches what the forges take as code: up to as many backticks as before it.
func withoutCode(line string) string {
	var b strings.Builder
	for line != "" {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			return b.String() + line
		}
		b.WriteString(line[:at])
		line = line[at:]
		n := len(line) - len(strings.TrimLeft(line, "`"))
		fence, rest := line[:n], line[n:]
		for {
			end := strings.Index(rest, fence)
			if end < 0 {
				return b.String() + line // no code: the backticks are text
			}
			run := len(rest[end:]) - len(strings.TrimLeft(rest[end:], "`"))
			if rest = rest[end+run:]; run == n {
				break
			}
		}
		b.WriteString("C")
		line = rest
	}
	return b.String()
}

// ownLine matches the lines that are ours, with a C for each code span.
var ownLine = regexp.MustCompile(`^(|### Translations: [0-9a-z, ]+|Only counted: [0-9a-z, ]+\.|\| language \|[a-z |]+|\|---\|[-:|]+|\| [C–] \|[0-9, |]+|#### [A-Za-z ]+|` +
	`- C [a-z: ]+ ([0-9a-z, ]+|C)|- C C: C|- (reworded: )?([ ~*C]|<br>(text|comment|note|from): )*( \([0-9a-z, %]+\))?([ ~*C]|<br>(text|comment|note|from): )*|` +
	`- … and [0-9,]+ more|<details><summary><code>[^<>` + "`" + `]*</code>: [0-9a-z, ]+</summary>|</details>|… and [0-9,]+ more files?)$`)

func checkMarkdown(t interface{ Errorf(string, ...any) }, text string) {
	if len(text) > MaxMarkdown {
		t.Errorf("%d bytes", len(text))
	}
	for line := range strings.Lines(text) {
		if plain := withoutCode(strings.TrimSuffix(line, "\n")); !ownLine.MatchString(plain) {
			t.Errorf("%q is not ours: %q", plain, line)
			return
		}
	}
	if strings.Count(text, "\n<details>") != strings.Count(text, "\n</details>") {
		t.Errorf("details are not closed")
	}
}

func TestMarkdownHostile(t *testing.T) {
	for n := range hostile {
		checkMarkdown(t, written(t, hostileReport(hostile[n:n+1], 2), WriteMarkdown))
	}
	for _, n := range []int{0, 1, 20, 300, 3000} {
		checkMarkdown(t, written(t, hostileReport(hostile, n), WriteMarkdown))
	}
	checkMarkdown(t, written(t, hostileReport([]string{strings.Repeat("`", 5000), strings.Repeat("a ", 40_000)}, 100), WriteMarkdown))
	var files []File
	for i := range 20_000 {
		files = append(files, File{Path: fmt.Sprintf("po/%d.po", i), Language: fmt.Sprint(i), Status: Changed, Counts: Counts{Texts: 1}, Header: []Field{{"a", "b", "c"}}})
	}
	r := New(files, 0)
	text := written(t, &r, WriteMarkdown)
	checkMarkdown(t, text)
	if !strings.Contains(text, "20,000 texts changed") || !strings.Contains(text, "more files\n") {
		t.Errorf("%.200s", text)
	}
}

func TestHTMLHostile(t *testing.T) {
	text := written(t, hostileReport(hostile, 60), WriteHTML)
	known := regexp.MustCompile(`^(!DOCTYPE html|html lang="en"|meta charset="utf-8"|/?(html|head|title|style|body|h1|h2|p|ul|li|table|tr|td|bdi|ins|del|span)|span class="k"|li class="(reworded|)")$`)
	for _, tag := range regexp.MustCompile(`<([^>]*)>?`).FindAllStringSubmatch(text, -1) {
		if !known.MatchString(tag[1]) {
			t.Fatalf("%q is not ours", tag[1])
		}
	}
	for _, part := range []string{"\x1b", "\u202e", "onerror=alert(1)>", "\u2028"} {
		if strings.Contains(text, part) {
			t.Errorf("it has %q", part)
		}
	}
}

func TestTextHostile(t *testing.T) {
	text := written(t, hostileReport(hostile, 60), plainText)
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##") || strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\x1b\u202e\u2028\r") {
			t.Errorf("%q", line)
		}
	}
}
