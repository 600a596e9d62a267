package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf16"
	"unicode/utf8"
)

// The formats of a report.
const (
	// FormatText is one line per finding, as compilers write them.
	FormatText = "text"
	// FormatJSON is one object (docs/check.md).
	FormatJSON = "json"
	// FormatSARIF is a log of the OASIS standard SARIF 2.1.0 for code scanning.
	FormatSARIF = "sarif"
	// FormatGitHub is the workflow commands of GitHub Actions that make annotations.
	FormatGitHub = "github"
)

// Formats returns all formats.
func Formats() []string { return []string{FormatText, FormatJSON, FormatSARIF, FormatGitHub} }

// A Report renders results. It is used by one goroutine.
type Report interface {
	// File renders the verdict on one more file.
	File(r Result) error
	// Close renders the end of the report. Without it the report is incomplete.
	Close() error
}

// ReportOptions are the options of a report.
type ReportOptions struct {
	// Format is one of [Formats]; empty means FormatText.
	Format string
	// Stats adds the counts, in FormatText and FormatJSON only.
	Stats bool
	// Summary has a line for each code in place of each finding, in FormatText only.
	Summary bool
	// Version is the version of the program, for FormatSARIF; it may be empty.
	Version string
	// Quality: there may be findings of quality checks, whose rules FormatSARIF lists.
	Quality bool
}

// NewReport returns a report that writes to w. The error names a wrong option.
func NewReport(w io.Writer, o ReportOptions) (Report, error) {
	o.Format = cmp.Or(o.Format, FormatText)
	if !slices.Contains(Formats(), o.Format) {
		return nil, fmt.Errorf("--format %q: write one of %s", o.Format, strings.Join(Formats(), ", "))
	}
	if o.Stats && o.Format != FormatText && o.Format != FormatJSON {
		return nil, fmt.Errorf("--stats has no place in --format %s: write --format text or json", o.Format)
	}
	if o.Summary && o.Format != FormatText {
		return nil, fmt.Errorf("--summary has no place in --format %s: write --format text", o.Format)
	}
	var counted *stats
	if o.Stats {
		counted = &stats{sums{}, sums{}}
	}
	switch o.Format {
	case FormatJSON:
		head := fmt.Sprintf("{\"version\":%d,\"findings\":[", jsonVersion)
		return &jsonReport{array: array{w: w, head: head}, stats: counted, files: []jsonFile{}}, nil
	case FormatSARIF:
		rules := Rules()
		if o.Quality {
			rules = append(rules, QualityRules()...)
		}
		head, err := sarifHead(o.Version, rules)
		return &sarifReport{array: array{w: w, head: head}, rules: rules}, err
	case FormatGitHub:
		return &gitHubReport{w: w}, nil
	}
	t := &textReport{w: w, stats: counted}
	if o.Summary {
		t.codes, t.first = map[string]int{}, map[string]string{}
	}
	return t, nil
}

// textReport writes "file:line:column: severity: message [code]".
type textReport struct {
	w     io.Writer
	stats *stats            // nil without counts
	codes map[string]int    // findings by code, nil if each is written
	first map[string]string // of them
}

func (t *textReport) File(r Result) error {
	var b bytes.Buffer
	name := printableName(r.File)
	for i := range r.Findings {
		f := &r.Findings[i]
		line := fmt.Sprintf("%s:%d:%d: %s: %s [%s]\n", name, f.Line, f.Column, f.Severity, Printable(f.Message), f.Code)
		if t.codes == nil {
			b.WriteString(line)
		} else if t.codes[f.Code]++; t.codes[f.Code] == 1 {
			t.first[f.Code] = line
		}
	}
	if t.stats != nil && r.Parsed {
		fmt.Fprintf(&b, "%s: %s\n", name, r.Counts)
		t.stats.add(r)
	}
	return write(t.w, b.Bytes())
}

func (t *textReport) Close() error {
	order := slices.SortedFunc(maps.Keys(t.codes), func(a, b string) int { return cmp.Or(t.codes[b]-t.codes[a], cmp.Compare(a, b)) })
	for _, code := range order {
		if err := write(t.w, fmt.Appendf(nil, "%6d × %s", t.codes[code], t.first[code])); err != nil {
			return err
		}
	}
	if t.stats == nil || t.stats.total[""].Files < 2 {
		return nil // the line of the file has the same numbers
	}
	var b bytes.Buffer
	b.WriteByte('\n')
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	total, missing := t.stats.total[""], ""
	if total.Missing > 0 {
		missing = "missing\t"
	}
	fmt.Fprintf(table, "files\ttranslated\tfuzzy\tuntranslated\t%sdone\t  directory\n", missing)
	total.Directory = "total"
	for _, d := range append(t.stats.sorted(), total) {
		if missing != "" {
			missing = fmt.Sprintf("%d\t", d.Missing)
		}
		fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%s%d%%\t  %s\n", d.Files, d.Translated, d.Fuzzy, d.Untranslated, missing, d.percent(), Printable(d.Directory))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return write(t.w, b.Bytes())
}

// String returns the line of msgfmt --statistics in English, and what is missing.
func (c Counts) String() string {
	line := Quantity(c.Translated, "translated message")
	if c.Fuzzy > 0 {
		line += ", " + Quantity(c.Fuzzy, "fuzzy translation")
	}
	if c.Untranslated > 0 {
		line += ", " + Quantity(c.Untranslated, "untranslated message")
	}
	if c.Missing > 0 {
		line += ", " + Quantity(c.Missing, "missing message")
	}
	return line + "."
}

// write writes b, unless it is empty.
func write(w io.Writer, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// gitHubReport writes the workflow commands of GitHub Actions (docs.github.com, "Workflow
// commands for GitHub Actions", setting an error or a warning message).
type gitHubReport struct{ w io.Writer }

func (g *gitHubReport) File(r Result) error {
	var b bytes.Buffer
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(&b, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", f.Severity, gitHubProperty(f.File), f.Line, f.Column,
			gitHubProperty("repoglot check: "+f.Code), gitHubData(f.Message))
	}
	return write(g.w, b.Bytes())
}

func (g *gitHubReport) Close() error { return nil }

// gitHubData escapes a message. The runner turns %25, %0D and %0A back (actions/toolkit,
// packages/core/src/command.ts); other characters that do not print are escaped for people.
func gitHubData(s string) string {
	s = lineText.ReplaceAllStringFunc(s, func(text string) string { return strings.ReplaceAll(Printable(text), "%", "%25") })
	return strings.NewReplacer("\r", "%0D", "\n", "%0A").Replace(s)
}

// lineText is the text of a line.
var lineText = regexp.MustCompile(`[^\r\n]+`)

// gitHubProperty escapes a property before the message.
func gitHubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(gitHubData(s))
}

// jsonVersion grows when a member of the object is removed or changes its meaning.
const jsonVersion = 1

type jsonFile struct {
	File     string `json:"file"`
	Template bool   `json:"template"`
	Counts
}

// array writes the items of a long array in an object as they come.
type array struct {
	w     io.Writer
	head  string // what is before the items; "" when it is written
	items int
}

func (a *array) begin(b *bytes.Buffer) {
	b.WriteString(a.head)
	a.head = ""
}

func (a *array) add(b *bytes.Buffer, item any) error {
	if a.items++; a.items > 1 {
		b.WriteByte(',')
	}
	b.WriteByte('\n')
	return appendJSON(b, item)
}

// jsonReport writes one object: the findings as they come, then the sums.
type jsonReport struct {
	array
	summary Summary
	stats   *stats     // nil without counts
	files   []jsonFile // never nil
}

func (j *jsonReport) File(r Result) error {
	var b bytes.Buffer
	j.begin(&b)
	for i := range r.Findings {
		if err := j.add(&b, r.Findings[i]); err != nil {
			return err
		}
	}
	j.summary.Add(r)
	if j.stats != nil && r.Parsed {
		j.stats.add(r)
		j.files = append(j.files, jsonFile{r.File, r.Template, r.Counts})
	}
	return write(j.w, b.Bytes())
}

func (j *jsonReport) Close() error {
	var b bytes.Buffer
	j.begin(&b)
	fmt.Fprintf(&b, "\n],\n\"files\":%d,\"errors\":%d,\"warnings\":%d", j.summary.Files, j.summary.Errors, j.summary.Warnings)
	if j.stats != nil {
		b.WriteString(",\n\"stats\":")
		all := struct {
			Files       []jsonFile `json:"files"`
			Directories []sum      `json:"directories"`
			Total       sum        `json:"total"`
		}{j.files, j.stats.sorted(), j.stats.total[""]}
		if err := appendJSON(&b, all); err != nil {
			return err
		}
	}
	b.WriteString("}\n")
	return write(j.w, b.Bytes())
}

// appendJSON encodes v in one line that is safe to print.
func appendJSON(b *bytes.Buffer, v any) error {
	var one bytes.Buffer
	enc := json.NewEncoder(&one)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	b.Write(printableJSON(bytes.TrimRight(one.Bytes(), "\n")))
	return nil
}

// Printable returns s with all characters escaped that do not print: control characters, line
// ends, marks that change the direction of text, bytes that are not UTF-8. So neither name nor
// text of a file controls a terminal or begins a line. The commands that CI systems read
// anywhere in a line of a log ("##[…", "##vso[…", "##teamcity[…") are escaped, too.
func Printable(s string) string {
	odd := func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }
	if !strings.Contains(s, "##") && !strings.ContainsFunc(s, odd) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '#' && beginsCommand(s, i):
			b.WriteString(`\x23`)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

// beginsCommand reports whether a # is the second one of a command of a CI system.
func beginsCommand(s string, i int) bool {
	return i > 0 && s[i-1] == '#' && i+1 < len(s) && (s[i+1] == '[' || s[i+1]|0x20 >= 'a' && s[i+1]|0x20 <= 'z')
}

// printableName is Printable for a name at the start of a line, where GitHub's
// runner reads two colons as the beginning of a command.
func printableName(s string) string {
	if strings.HasPrefix(strings.TrimSpace(s), "::") {
		s = "./" + s
	}
	return Printable(s)
}

// printableJSON escapes in encoded JSON the characters that [Printable] escapes in
// text; outside of strings JSON is ASCII.
func printableJSON(b []byte) []byte {
	text, out := string(b), make([]byte, 0, len(b))
	for i, r := range text {
		if r != 0x7F && (r < utf8.RuneSelf || strconv.IsPrint(r)) && !(r == '#' && beginsCommand(text, i)) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}
