package check_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/cmd/repoglot/check"
)

// The members of SARIF 2.1.0 that are used, with the requirements of code scanning
// (docs.github.com, "SARIF support for code scanning"). Unknown members fail.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifRun struct {
	Tool struct {
		Driver struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			URI     string `json:"informationUri"`
			Rules   []struct {
				ID      string    `json:"id"`
				Short   sarifText `json:"shortDescription"`
				Full    sarifText `json:"fullDescription"`
				Help    sarifText `json:"help"`
				HelpURI string    `json:"helpUri"`
				Default struct {
					Level string `json:"level"`
				} `json:"defaultConfiguration"`
			} `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	ColumnKind string `json:"columnKind"`
	Results    []struct {
		RuleID    string    `json:"ruleId"`
		RuleIndex int       `json:"ruleIndex"`
		Level     string    `json:"level"`
		Message   sarifText `json:"message"`
		Locations []struct {
			Physical struct {
				Artifact struct {
					URI  string `json:"uri"`
					Base string `json:"uriBaseId"`
				} `json:"artifactLocation"`
				Region struct {
					Line   int `json:"startLine"`
					Column int `json:"startColumn"`
				} `json:"region"`
			} `json:"physicalLocation"`
		} `json:"locations"`
	} `json:"results"`
	Invocations []struct {
		Successful    bool `json:"executionSuccessful"`
		Notifications []struct {
			Level   string    `json:"level"`
			Message sarifText `json:"message"`
		} `json:"toolExecutionNotifications"`
	} `json:"invocations"`
}

// validSARIF decodes a log and checks it against the standard.
func validSARIF(t testing.TB, text string) sarifRun {
	t.Helper()
	var log sarifLog
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&log); err != nil {
		t.Fatalf("%v:\n%.500s", err, text)
	}
	if log.Version != "2.1.0" || !strings.HasSuffix(log.Schema, "sarif-2.1.0.json") || len(log.Runs) != 1 {
		t.Fatalf("version %q, schema %q, %d runs", log.Version, log.Schema, len(log.Runs))
	}
	run := log.Runs[0]
	driver := run.Tool.Driver
	if driver.Name == "" || run.ColumnKind != "unicodeCodePoints" || len(run.Invocations) != 1 || !run.Invocations[0].Successful {
		t.Errorf("driver %q, columns in %q, invocations %v", driver.Name, run.ColumnKind, run.Invocations)
	}
	for _, r := range driver.Rules {
		if r.ID == "" || r.Short.Text == "" || len(r.Short.Text) > 1024 || r.Full.Text == "" || r.Help.Text == "" {
			t.Errorf("rule %+v is not complete", r)
		}
		if u, err := url.Parse(r.HelpURI); err != nil || !u.IsAbs() || u.Fragment != r.ID {
			t.Errorf("rule %s: help at %q", r.ID, r.HelpURI)
		}
	}
	if run.Results == nil || len(run.Results) > 25_000 {
		t.Errorf("%d results", len(run.Results))
	}
	for _, r := range run.Results {
		if r.RuleIndex < 0 || r.RuleIndex >= len(driver.Rules) || driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("rule %q is not at index %d", r.RuleID, r.RuleIndex)
		} else if want := driver.Rules[r.RuleIndex].Default.Level; r.Level != want || want != "error" && want != "warning" {
			t.Errorf("rule %q: level %q, want %q", r.RuleID, r.Level, want)
		}
		if r.Message.Text == "" || len(r.Locations) != 1 {
			t.Fatalf("%+v has no message or place", r)
		}
		p := r.Locations[0].Physical
		u, err := url.Parse(p.Artifact.URI)
		if err != nil || u.Path == "" || u.IsAbs() == (p.Artifact.Base != "") || p.Region.Line < 1 || p.Region.Column < 1 {
			t.Errorf("place %+v: %v", p, err)
		}
	}
	return run
}

// TestSARIF: the log of every kind of finding, of awkward names and of no files
// follows the standard.
func TestSARIF(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if run := validSARIF(t, report(t, check.ReportOptions{Format: check.FormatSARIF}, check.Options{})); len(run.Results) != 0 {
		t.Errorf("%d results for nothing", len(run.Results))
	}
	outside := filepath.Join(t.TempDir(), "out.po")
	for name, uri := range map[string]string{
		"a b%41#?.po": "a%20b%2541%23%3F.po",
		"c:d.po":      "./c:d.po",
		"é\xff\n.po":  "%C3%A9%FF%0A.po",
		outside:       "file://" + outside,
	} {
		writeFile(t, name, []byte("x\x1b[31m"))
		got := report(t, check.ReportOptions{Format: check.FormatSARIF, Version: "v1"}, check.Options{Paths: []string{name}})
		run := validSARIF(t, got)
		if len(run.Results) != 1 || run.Results[0].Locations[0].Physical.Artifact.URI != uri {
			t.Errorf("%q: %+v, want %s", name, run.Results, uri)
		}
		must(t, os.Remove(name))
	}
	writeFile(t, "in/a.po", []byte("x"))
	t.Chdir("in")
	run := validSARIF(t, report(t, check.ReportOptions{Format: check.FormatSARIF}, check.Options{Paths: []string{"../in"}}))
	real, err := filepath.EvalSymlinks(dir)
	must(t, err)
	if got := run.Results[0].Locations[0].Physical.Artifact.URI; got != "file://"+dir+"/in/a.po" && got != "file://"+real+"/in/a.po" {
		t.Errorf("outside of the current folder: %s", got)
	}
}

// TestSARIFBounds: there are not more results than code scanning accepts, errors
// first, and the log says how many are left out.
func TestSARIFBounds(t *testing.T) {
	var out strings.Builder
	r, err := check.NewReport(&out, check.ReportOptions{Format: check.FormatSARIF})
	must(t, err)
	finding := func(file int, s check.Severity, code string) check.Finding {
		return check.Finding{File: fmt.Sprintf("%d.po", file), Line: 1, Column: 1, Severity: s, Code: code, Message: "m"}
	}
	for i := range 30_000 {
		must(t, r.File(check.Result{Findings: []check.Finding{finding(i, check.Warning, check.CodeHeaderField)}}))
	}
	must(t, r.File(check.Result{Findings: []check.Finding{finding(30_000, check.Error, check.CodeUnreadable)}}))
	must(t, r.Close())
	run := validSARIF(t, out.String())
	if n := len(run.Results); n != 20_001 || run.Results[n-1].Level != "error" {
		t.Errorf("%d results", n)
	}
	if n := run.Invocations[0].Notifications; len(n) != 1 || !strings.HasPrefix(n[0].Message.Text, "10000 findings were left out") {
		t.Errorf("notifications %+v", n)
	}
}
