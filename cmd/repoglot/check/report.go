package check

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// The formats of a report.
const (
	// FormatText is one line per finding, as compilers write them.
	FormatText = "text"
	// FormatJSON is one object (docs/check.md).
	FormatJSON = "json"
	// FormatSARIF is a log of the OASIS standard SARIF 2.1.0 for code scanning.
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
	// Close renders the end of the report. Without it the report is incomplete.
	Close() error
}

// ReportOptions are the options of a report.
type ReportOptions struct {
	// Format is one of [Formats]; empty means FormatText.
	Format string
	// Stats adds the counts, in FormatText and FormatJSON only.
	Stats bool
	// Version is the version of the program, for FormatSARIF; it may be empty.
	Version string
	// Quality says that there may be findings of quality checks, for FormatSARIF,
	// which lists the rules.
	Quality bool
}

// NewReport returns a report that writes to w. The error names a wrong option.
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
