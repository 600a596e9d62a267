package check

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// GitHub's code scanning refuses a run with more than 25,000 results
// (docs.github.com, "SARIF support for code scanning"); errors keep a part of
// that to themselves.
const (
	maxResults  = 25_000
	maxWarnings = 20_000
)

// projectURI is the address of the program and its documentation.
const projectURI = "https://github.com/repoglot/repoglot"

type sarifText struct {
	Text string `json:"text"`
}

type sarifLevel struct {
	Level Severity `json:"level"`
}

type sarifRule struct {
	ID            string     `json:"id"`
	Short         sarifText  `json:"shortDescription"`
	Full          sarifText  `json:"fullDescription"`
	Help          sarifText  `json:"help"`
	HelpURI       string     `json:"helpUri"`
	Configuration sarifLevel `json:"defaultConfiguration"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	URI     string      `json:"informationUri"`
	Rules   []sarifRule `json:"rules"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct {
	Line   int `json:"startLine"`
	Column int `json:"startColumn"`
}

type sarifPlace struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifLocation struct {
	Place sarifPlace `json:"physicalLocation"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"` // -1: none
	Level     Severity        `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifNotification struct {
	Level   Severity  `json:"level"`
	Message sarifText `json:"message"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

// sarifReport writes a log with one run: the results as they come.
type sarifReport struct {
	w       io.Writer
	version string
	rules   []Rule
	started bool
	results int
	dropped int
}

func newSARIFReport(w io.Writer, version string, quality bool) *sarifReport {
	s := &sarifReport{w: w, version: version, rules: Rules()}
	if quality {
		s.rules = append(s.rules, QualityRules()...)
	}
	return s
}

// help is the address of a rule's explanation.
func help(code string) string {
	if strings.HasPrefix(code, qualityPrefix) {
		return projectURI + "/blob/main/docs/checks.md"
	}
	return projectURI + "/blob/main/docs/check.md#" + code
}

// File implements [Report].
func (s *sarifReport) File(r Result) error {
	var b bytes.Buffer
	if err := s.begin(&b); err != nil {
		return err
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if s.results >= maxResults || s.results >= maxWarnings && f.Severity != Error {
			s.dropped++
			continue
		}
		if s.results++; s.results > 1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		if err := appendJSON(&b, s.result(f)); err != nil {
			return err
		}
	}
	return write(s.w, b.Bytes())
}

// begin writes the text before the first result.
func (s *sarifReport) begin(b *bytes.Buffer) error {
	if s.started {
		return nil
	}
	s.started = true
	driver := sarifDriver{Name: "repoglot", Version: s.version, URI: projectURI}
	for _, r := range s.rules {
		driver.Rules = append(driver.Rules, sarifRule{
			ID: r.Code, Short: sarifText{r.Summary}, Full: sarifText{r.Summary}, Help: sarifText{r.Help},
			HelpURI: help(r.Code), Configuration: sarifLevel{r.Severity},
		})
	}
	b.WriteString("{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{\n\"tool\":{\"driver\":")
	if err := appendJSON(b, driver); err != nil {
		return err
	}
	b.WriteString("},\n\"columnKind\":\"unicodeCodePoints\",\n\"results\":[")
	return nil
}

func (s *sarifReport) result(f *Finding) sarifResult {
	return sarifResult{
		RuleID:    f.Code,
		RuleIndex: slices.IndexFunc(s.rules, func(r Rule) bool { return r.Code == f.Code }),
		Level:     f.Severity,
		Message:   sarifText{f.Message},
		Locations: []sarifLocation{{sarifPlace{artifact(f.File), sarifRegion{f.Line, f.Column}}}},
	}
}

// artifact names a file by a URI: relative to the root of the sources, or absolute
// if it is not below the current folder.
func artifact(file string) sarifArtifact {
	if outside := file == ".." || strings.HasPrefix(file, ".."+string(filepath.Separator)); outside || filepath.IsAbs(file) {
		if abs, err := filepath.Abs(file); err == nil {
			file = abs
		}
		path := filepath.ToSlash(file)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // a drive letter
		}
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: path}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: filepath.ToSlash(filepath.Clean(file))}).String(), Base: "%SRCROOT%"}
}

// Close implements [Report].
func (s *sarifReport) Close() error {
	var b bytes.Buffer
	if err := s.begin(&b); err != nil {
		return err
	}
	invocation := sarifInvocation{Successful: true}
	if s.dropped > 0 {
		invocation.Notifications = []sarifNotification{{Warning, sarifText{fmt.Sprintf(
			"%d findings were left out, as code scanning takes no more: --format text lists all", s.dropped)}}}
	}
	b.WriteString("\n],\n\"invocations\":[")
	if err := appendJSON(&b, invocation); err != nil {
		return err
	}
	b.WriteString("]}]}\n")
	return write(s.w, b.Bytes())
}
