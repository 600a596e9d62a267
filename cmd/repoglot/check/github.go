package check

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// gitHubReport writes the workflow commands of GitHub Actions (docs.github.com,
// "Workflow commands for GitHub Actions", setting an error or a warning
// message).
type gitHubReport struct{ w io.Writer }

// File implements [Report].
func (g *gitHubReport) File(r Result) error {
	var b bytes.Buffer
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(&b, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", f.Severity, gitHubProperty(f.File), f.Line, f.Column,
			gitHubProperty("repoglot check: "+f.Code), gitHubData(f.Message))
	}
	return write(g.w, b.Bytes())
}

// Close implements [Report].
func (g *gitHubReport) Close() error { return nil }

// gitHubData escapes a message. The runner turns %25, %0D and %0A back
// (actions/toolkit, packages/core/src/command.ts); other characters that do not
// print are escaped for people.
func gitHubData(s string) string {
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteString("%0A")
		}
		for k, part := range strings.Split(line, "\r") {
			if k > 0 {
				b.WriteString("%0D")
			}
			b.WriteString(strings.ReplaceAll(Printable(part), "%", "%25"))
		}
	}
	return b.String()
}

// gitHubProperty escapes a property before the message.
func gitHubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(gitHubData(s))
}
