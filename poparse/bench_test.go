package poparse

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leonelquinteros/gotext"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

const benchHeader = `# Generated for benchmarks.
msgid ""
msgstr ""
"Language: cs\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;\n"

`

var words = strings.Fields(`Příliš žluťoučký kůň the quick brown fox file
directory not found while opening connection %s server settings window Zobrazit
nabídku upravit soubor`)

// sentence returns n words that depend only on a seed.
func sentence(seed, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		seed = seed*1103515245 + 12345
		b.WriteString(words[seed>>16&0x7fff%len(words)])
	}
	return b.String()
}

// generate returns a PO file of n entries. Each kind has the mean entry size
// of real files: about 150 bytes plain, 400 with wrapped strings.
func generate(kind string, n int) []byte {
	var b strings.Builder
	b.WriteString(benchHeader)
	for i := range n {
		fmt.Fprintf(&b, "#: src/module/file%d.c:%d\n", i%100, i)
		switch kind {
		case "plain":
			fmt.Fprintf(&b, "msgid \"%s %d\"\nmsgstr \"%s\"\n\n", sentence(i, 6), i, sentence(i+7, 6))
		case "escaped":
			fmt.Fprintf(&b, "#, c-format\nmsgid \"%s \\\"%d\\\"\\n\"\nmsgstr \"%s \\\"%%d\\\"\\n\"\n\n", sentence(i, 5), i, sentence(i+7, 5))
		case "wrapped":
			fmt.Fprintf(&b, "msgid \"\"\n\"%s \"\n\"%s %d\\n\"\nmsgstr \"\"\n\"%s \"\n\"%s\\n\"\n\n",
				sentence(i, 10), sentence(i+1, 8), i, sentence(i+2, 10), sentence(i+3, 8))
		case "rich":
			fmt.Fprintf(&b, "# A note.\n#. For translators.\n#, c-format\n#| msgid \"old\"\nmsgctxt \"menu\"\nmsgid \"%s %d\"\nmsgid_plural \"%s\"\nmsgstr[0] \"%s\"\nmsgstr[1] \"%s\"\nmsgstr[2] \"\"\n\n",
				sentence(i, 4), i, sentence(i+1, 4), sentence(i+2, 4), sentence(i+3, 4))
		}
	}
	return []byte(b.String())
}

var benchKinds = []string{"plain", "escaped", "wrapped", "rich"}

func BenchmarkParse(b *testing.B) {
	for _, kind := range benchKinds {
		b.Run(fmt.Sprintf("kind=%s/entries=20000", kind), func(b *testing.B) {
			benchParse(b, generate(kind, 20000))
		})
	}
}

func benchParse(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("bench.po", data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGotext reads the same bytes with gotext, which keeps neither order
// nor flags nor comments.
func BenchmarkGotext(b *testing.B) {
	for _, kind := range benchKinds {
		b.Run(fmt.Sprintf("kind=%s/entries=20000", kind), func(b *testing.B) {
			data := generate(kind, 20000)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				gotext.NewPo().Parse(data)
			}
		})
	}
}

func BenchmarkParseCharset(b *testing.B) {
	for _, name := range []string{"ISO-8859-2", "EUC-JP"} {
		b.Run("charset="+name, func(b *testing.B) {
			text := strings.NewReplacer("UTF-8", name, "ů", "u", "ť", "t").Replace(string(generate("plain", 20000)))
			if name == "EUC-JP" {
				text = strings.NewReplacer("Příliš", "日本語の", "žluťoučký", "テキスト", "kůň", "です", "í", "i").Replace(text)
				text = strings.Map(func(r rune) rune {
					if r >= 0x80 && r < 0x3000 {
						return '?'
					}
					return r
				}, text)
			}
			_, enc := lookupCharset(name)
			data, err := enc.NewEncoder().Bytes([]byte(text))
			must(b, err)
			benchParse(b, data)
		})
	}
}

// TestAllocation checks the bound of Parse: three times the file's size plus 400
// bytes for each entry, garbage included. Lines of 64 MiB are long enough, as the cost
// depends on the size only.
func TestAllocation(t *testing.T) {
	mib, duplicates := testsize.Of(4, 16, 64)<<20, testsize.Of(100_000, 250_000, 1_000_000)
	many := mib / 16
	header := func(field string) []byte {
		return []byte("msgid \"\"\nmsgstr \"Plural-Forms: nplurals=2; plural=" + field + ";\\n\"\n")
	}
	inputs := map[string][]byte{
		"long line":    []byte("msgid \"" + strings.Repeat("x", mib) + "\"\nmsgstr \"\"\n"),
		"long lines":   []byte("msgid \"" + strings.Repeat("x", mib/4) + "\"\n\"" + strings.Repeat("y", mib/4) + "\"\nmsgstr \"" + strings.Repeat("z", mib/4) + "\\n\"\n\"z\"\n"),
		"long escapes": []byte("msgid \"a\"\nmsgstr \"" + strings.Repeat(`\n`, mib/2) + "\"\n"),
		"long octals":  []byte("msgid \"a\"\nmsgstr \"" + strings.Repeat(`\303\251`, mib/8) + "\"\n"),
		"long comment": []byte("#" + strings.Repeat(" x", mib/2) + "\nmsgid \"a\"\nmsgstr \"\"\n"),
		"duplicates":   []byte(strings.Repeat("msgid \"a\"\nmsgstr \"b\"\n", duplicates)),
		"contexts":     []byte(strings.Repeat("msgctxt \"c\"\nmsgid \"a\"\nmsgstr \"b\"\n", duplicates/4)),
		"adjacent":     []byte("msgid \"a\"\nmsgstr " + strings.Repeat(`"a"`, many)),
		"empties":      []byte("msgid \"a\"\nmsgstr " + strings.Repeat("\"\"\n", many)),
		"plurals":      []byte(strings.Repeat("msgid \"a\" msgid_plural \"b\" msgstr[0] \"\" msgstr[1] \"\" msgstr[2] \"\"\n", duplicates/10)),
		"previous":     []byte(strings.Repeat("#| msgid \"\"\nmsgid \"a\"\nmsgstr \"\"\n", duplicates/10)),
		"parentheses":  header(strings.Repeat("(", mib/8) + "n" + strings.Repeat(")", mib/8)),
		"conditionals": header(strings.Repeat("n?", mib/8)),
		"negations":    header(strings.Repeat("!", mib/8)),
		"isolates":     []byte("#:" + strings.Repeat(" \u2068", many/4) + strings.Repeat("\u2069", many/4) + "\nmsgid \"a\"\nmsgstr \"\"\n"),
		"prefixes":     []byte(strings.Repeat("#~|#|#~", mib/64) + "\nmsgid \"a\"\nmsgstr \"\"\n"),
	}
	for _, kind := range benchKinds {
		inputs[kind] = generate(kind, duplicates/20)
	}
	for name, data := range inputs {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f, err := Parse("x.po", data)
			runtime.ReadMemStats(&after)
			must(t, err)
			got := int(after.TotalAlloc - before.TotalAlloc)
			limit := 3*len(data) + 400*len(f.Entries) + 64<<10
			t.Logf("%d bytes in %d entries: %d bytes allocated, %.1f times", len(data), len(f.Entries), got, float64(got)/float64(len(data)))
			if got > limit {
				t.Errorf("allocated %d bytes, more than %d", got, limit)
			}
		})
	}
}

// TestAllocationCharset checks the bound of Parse for other charsets, where both the
// size in UTF-8 and the size of the file count.
func TestAllocationCharset(t *testing.T) {
	n := 20_000
	if underRace {
		n = 4_000
	}
	for name, letters := range map[string]string{"ISO-8859-2": "žluťoučký", "TIS-620": "ภาษาไทย", "EUC-JP": "日本語", "SHIFT_JIS": "表示ソ"} {
		_, enc := lookupCharset(name)
		text := strings.NewReplacer("UTF-8", name, "file", letters, "Příliš", letters, "žluťoučký", letters, "kůň", letters, "nabídku", letters).
			Replace(string(generate("wrapped", n)))
		data, err := enc.NewEncoder().Bytes([]byte(text))
		must(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := Parse("x.po", data)
		runtime.ReadMemStats(&after)
		must(t, err)
		got := int(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%s: %d bytes, in UTF-8 %d: %d bytes allocated", name, len(data), len(text), got)
		if limit := 3*len(text) + len(data) + 400*len(f.Entries) + 64<<10; got > limit {
			t.Errorf("%s: allocated %d bytes, more than %d", name, got, limit)
		}
	}
}

// BenchmarkBundle reads every PO file at the head of real repositories, in its own
// charset. An iteration reads all files.
func BenchmarkBundle(b *testing.B) {
	for _, name := range benchBundles {
		b.Run("repo="+name, func(b *testing.B) {
			files, size := bundleFiles(b, name)
			entries := 0
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				entries += parseAll(files)
			}
			b.ReportMetric(float64(entries)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

var benchBundles = []string{
	"demo", "dnf-plugins-core", "gtranslator-po", "hello", "polib", "python-docs-pl", "switchboard", "vim-po",
}

func bundleFiles(b *testing.B, name string) (files []blob, size int) {
	path, err := filepath.Abs(filepath.Join(gittest.Shared(b, "data", "repos"), name+".bundle"))
	must(b, err)
	files = headFiles(b, cloneBundle(b, path), ".po")
	for _, f := range files {
		size += len(f.data)
	}
	return files, size
}

func parseAll(files []blob) (entries int) {
	for _, f := range files {
		if parsed, err := Parse(f.path, f.data); err == nil {
			entries += len(parsed.Entries)
		}
	}
	return entries
}

// BenchmarkAgainst reads the same files with gotext and msgfmt in turn, so that a busy
// machine is busy for all three. It reports the speed of the best pass and the median
// of the ratios. gotext keeps neither order nor flags nor comments. msgfmt reads only
// the largest file, so that its start does not count.
func BenchmarkAgainst(b *testing.B) {
	for _, name := range slices.Concat(benchBundles, []string{"all"}) {
		b.Run("repo="+name, func(b *testing.B) {
			var files []blob
			size := 0
			for _, one := range benchBundles {
				if name == one || name == "all" {
					more, n := bundleFiles(b, one)
					files, size = append(files, more...), size+n
				}
			}
			largest := files[0]
			for _, f := range files {
				if len(f.data) > len(largest.data) {
					largest = f
				}
			}
			path := filepath.Join(b.TempDir(), "largest.po")
			must(b, os.WriteFile(path, largest.data, 0o644))
			passes := 1 + 4<<20/size
			var best float64
			var gotextRatio, msgfmtRatio []float64
			for b.Loop() {
				ours := timed(func() {
					for range passes {
						parseAll(files)
					}
				})
				best = max(best, float64(passes*size)/ours/1e6)
				gotextRatio = append(gotextRatio, timed(func() {
					for range passes {
						for _, f := range files {
							gotext.NewPo().Parse(f.data)
						}
					}
				})/ours)
				one := timed(func() { parseAll([]blob{largest}) })
				msgfmtRatio = append(msgfmtRatio, timed(func() {
					_ = exec.Command("msgfmt", "-o", os.DevNull, path).Run() // not installed, or refused: of no interest
				})/one)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(best, "best-MB/s")
			b.ReportMetric(median(gotextRatio), "x-gotext")
			b.ReportMetric(median(msgfmtRatio), "x-msgfmt")
		})
	}
}

func timed(f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds()
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
