package check

import (
	"bytes"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// GitHub's code scanning refuses a run with more than 25,000 results (docs.github.com, "SARIF
// support for code scanning"); errors keep a part of that to themselves.
const (
	maxResults  = 25_000
	maxWarnings = 20_000
)

const projectURI = "https://github.com/repoglot/repoglot"

// object is an object of JSON, whose members are in the order of their names.
type object map[string]any

func textOf(text string) object { return object{"text": text} }

// sarifReport writes a log with one run: the results as they come.
type sarifReport struct {
	array
	rules   []Rule
	dropped int
}

func (s *sarifReport) File(r Result) error {
	var b bytes.Buffer
	s.begin(&b)
	for i := range r.Findings {
		f := &r.Findings[i]
		if s.items >= maxResults || s.items >= maxWarnings && f.Severity != Error {
			s.dropped++
			continue
		}
		if err := s.add(&b, s.result(f)); err != nil {
			return err
		}
	}
	return write(s.w, b.Bytes())
}

// sarifHead is what is before the results.
func sarifHead(version string, rules []Rule) (string, error) {
	list := make([]object, len(rules))
	for i, r := range rules {
		page := "check.md#" + r.Code
		if strings.HasPrefix(r.Code, qualityPrefix) {
			page = "checks.md"
		}
		list[i] = object{
			"id": r.Code, "shortDescription": textOf(r.Summary), "fullDescription": textOf(r.Summary), "help": textOf(r.Help),
			"helpUri": projectURI + "/blob/main/docs/" + page, "defaultConfiguration": object{"level": r.Severity},
		}
	}
	driver := object{"name": "repoglot", "informationUri": projectURI, "rules": list}
	if version != "" {
		driver["version"] = version
	}
	var b bytes.Buffer
	b.WriteString("{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{\n\"tool\":{\"driver\":")
	err := appendJSON(&b, driver)
	b.WriteString("},\n\"columnKind\":\"unicodeCodePoints\",\n\"results\":[")
	return b.String(), err
}

func (s *sarifReport) result(f *Finding) object {
	place := object{"artifactLocation": artifact(f.File), "region": object{"startLine": f.Line, "startColumn": f.Column}}
	return object{
		"ruleId": f.Code, "ruleIndex": slices.IndexFunc(s.rules, func(r Rule) bool { return r.Code == f.Code }), // -1: none
		"level": f.Severity, "message": textOf(f.Message), "locations": []object{{"physicalLocation": place}},
	}
}

// artifact names a file by a URI: relative to the root of the sources, or absolute
// if it is not below the current folder.
func artifact(file string) object {
	if outside := file == ".." || strings.HasPrefix(file, ".."+string(filepath.Separator)); outside || filepath.IsAbs(file) {
		if abs, err := filepath.Abs(file); err == nil {
			file = abs
		}
		path := filepath.ToSlash(file)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // a drive letter
		}
		return object{"uri": (&url.URL{Scheme: "file", Path: path}).String()}
	}
	return object{"uri": (&url.URL{Path: filepath.ToSlash(filepath.Clean(file))}).String(), "uriBaseId": "%SRCROOT%"}
}

func (s *sarifReport) Close() error {
	var b bytes.Buffer
	s.begin(&b)
	invocation := object{"executionSuccessful": true}
	if s.dropped > 0 {
		invocation["toolExecutionNotifications"] = []object{{"level": Warning, "message": textOf(fmt.Sprintf(
			"%d findings were left out, as code scanning takes no more: --format text lists all", s.dropped))}}
	}
	b.WriteString("\n],\n\"invocations\":[")
	if err := appendJSON(&b, invocation); err != nil {
		return err
	}
	b.WriteString("]}]}\n")
	return write(s.w, b.Bytes())
}
