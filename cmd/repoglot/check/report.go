package check

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// The formats of a report.
const (
	// FormatText is one line for a finding, as compilers write them.
	FormatText = "text"
	// FormatJSON is one object (docs/check.md).
	FormatJSON = "json"
	// FormatSARIF is a log of the OASIS standard SARIF 2.1.0, as code scanning
	// takes it.
	FormatSARIF = "sarif"
	// FormatGitHub is the workflow commands of GitHub Actions that make
	// annotations.
	FormatGitHub = "github"
)

// Formats returns all formats.
func Formats() []string { return []string{FormatText, FormatJSON, FormatSARIF, FormatGitHub} }

// A Report renders results. It is used by one goroutine.
type Report interface {
	// File renders the verdict on one more file.
	File(r Result) error
	// Close renders what stands behind the last file. Without it the report is
	// not complete.
	Close() error
}

// ReportOptions say how to render.
type ReportOptions struct {
	// Format is one of [Formats]; empty means FormatText.
	Format string
	// Stats adds the counts; only FormatText and FormatJSON have a place for
	// them.
	Stats bool
	// Version is that of the program, for FormatSARIF; may be empty.
	Version string
	// Quality tells that there may be findings of quality checks, for
	// FormatSARIF, which lists the rules.
	Quality bool
}

// NewReport returns a report that writes to w. The error says which option is
// wrong.
func NewReport(w io.Writer, o ReportOptions) (Report, error) {
	if o.Format == "" {
		o.Format = FormatText
	}
	if !slices.Contains(Formats(), o.Format) {
		return nil, fmt.Errorf("--format %q: write one of %s", o.Format, strings.Join(Formats(), ", "))
	}
	if o.Stats && o.Format != FormatText && o.Format != FormatJSON {
		return nil, fmt.Errorf("--stats has no place in --format %s: write --format text or json", o.Format)
	}
	switch o.Format {
	case FormatJSON:
		return newJSONReport(w, o.Stats), nil
	case FormatSARIF:
		return newSARIFReport(w, o.Version, o.Quality), nil
	case FormatGitHub:
		return &gitHubReport{w: w}, nil
	}
	return newTextReport(w, o.Stats), nil
}
