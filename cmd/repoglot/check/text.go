package check

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// textReport writes "file:line:column: severity: message [code]".
type textReport struct {
	w     io.Writer
	stats *stats // nil without counts
}

func newTextReport(w io.Writer, withStats bool) *textReport {
	t := &textReport{w: w}
	if withStats {
		t.stats = newStats()
	}
	return t
}

// File implements [Report].
func (t *textReport) File(r Result) error {
	var b bytes.Buffer
	name := printableName(r.File)
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s [%s]\n", name, f.Line, f.Column, f.Severity, Printable(f.Message), f.Code)
	}
	if t.stats != nil && r.Parsed {
		fmt.Fprintf(&b, "%s: %s\n", name, r.Counts)
		t.stats.add(r)
	}
	return write(t.w, b.Bytes())
}

// Close implements [Report].
func (t *textReport) Close() error {
	if t.stats == nil || t.stats.total.Files < 2 {
		return nil // the line of the file has the same numbers
	}
	var b bytes.Buffer
	b.WriteByte('\n')
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "files\ttranslated\tfuzzy\tuntranslated\tdone\t  directory\n")
	for _, d := range t.stats.sorted() {
		tableRow(table, d, Printable(d.Directory))
	}
	tableRow(table, t.stats.total, "total")
	if err := table.Flush(); err != nil {
		return err
	}
	return write(t.w, b.Bytes())
}

func tableRow(w io.Writer, d directory, name string) {
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d%%\t  %s\n", d.Files, d.Counts.Translated, d.Counts.Fuzzy, d.Counts.Untranslated, d.percent(), name)
}

// String returns the line of msgfmt --statistics in English.
func (c Counts) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d translated message%s", c.Translated, plural(c.Translated))
	if c.Fuzzy > 0 {
		fmt.Fprintf(&b, ", %d fuzzy translation%s", c.Fuzzy, plural(c.Fuzzy))
	}
	if c.Untranslated > 0 {
		fmt.Fprintf(&b, ", %d untranslated message%s", c.Untranslated, plural(c.Untranslated))
	}
	b.WriteByte('.')
	return b.String()
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
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
