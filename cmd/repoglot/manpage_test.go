package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const manPage = "../../docs/repoglot.1"

// TestManPageDrift: docs/repoglot.1 is made from the help texts. After a change of
// these: go test ./cmd/repoglot -run TestManPageDrift -update
func TestManPageDrift(t *testing.T) {
	t.Parallel()
	want := writeManPage()
	if *updateGolden {
		must(t, os.WriteFile(manPage, []byte(want), 0o644))
	}
	got, err := os.ReadFile(manPage)
	must(t, err)
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("the man page differs from the help texts; run go test ./cmd/repoglot -run TestManPageDrift -update (-file +help):\n%s", diff)
	}
}

// TestManPage: man reads the page without a warning, and shows every command and flag.
func TestManPage(t *testing.T) {
	t.Parallel()
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("skipped: there is no groff here")
	}
	cmd := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-Tutf8", "-P-c", manPage)
	var out, warnings bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &warnings
	must(t, cmd.Run())
	if warnings.Len() > 0 {
		t.Errorf("groff warns:\n%s", &warnings)
	}
	text := regexp.MustCompile(".\x08").ReplaceAllString(out.String(), "") // bold is struck twice
	for _, want := range []string{"serve [--no-pull] [--config FILE | REPO]", "token log", "--min-translated PERCENT", "EXIT STATUS"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// writeManPage makes the page from the commands.
func writeManPage() string {
	var b strings.Builder
	root := new(program).command()
	b.WriteString(".\\\" Made from the help texts by go test ./cmd/repoglot -run TestManPageDrift -update\n")
	b.WriteString(".TH REPOGLOT 1 \"\" \"repoglot\" \"User Commands\"\n.SH NAME\n")
	fmt.Fprintf(&b, "repoglot \\- %s\n", roff(root.Short))
	b.WriteString(".SH SYNOPSIS\n.B repoglot\nCOMMAND [FLAG]... [ARGUMENT]...\n.SH COMMANDS\n")
	for _, c := range root.Commands() {
		writeManCommand(&b, c)
	}
	b.WriteString(".SH EXIT STATUS\n0 after success, 1 after a failure, and 2 if the command line or the configuration is wrong.\n")
	b.WriteString(".SH ENVIRONMENT\nREPOGLOT_LISTEN, REPOGLOT_DATA_DIR and so on, one for each single value of the\nconfiguration, win over the file.\n")
	b.WriteString(".SH FILES\n.TP\n.I repoglot.yaml\nthe configuration, unless \\-\\-config names another.\n")
	b.WriteString(".SH SEE ALSO\nThe manual: https://github.com/repoglot/repoglot/tree/main/docs\n")
	return b.String()
}

func writeManCommand(b *strings.Builder, c *cobra.Command) {
	if c.HasSubCommands() {
		for _, sub := range c.Commands() {
			writeManCommand(b, sub)
		}
		return
	}
	usage := strings.TrimPrefix(c.CommandPath(), "repoglot ")
	_, arguments, _ := strings.Cut(c.Use, " ")
	fmt.Fprintf(b, ".SS %s\n", roff(strings.TrimSpace(usage+" "+arguments)))
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		b.WriteString(roff(paragraph) + "\n")
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		name, usage := pflag.UnquoteUsage(f)
		if f.Name == "help" || f.Hidden {
			return
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace("--"+f.Name+" "+name)), roff(usage))
	})
	if c.Example != "" {
		fmt.Fprintf(b, ".PP\nExamples:\n.PP\n.nf\n%s\n.fi\n", roff(strings.TrimRight(c.Example, "\n")))
	}
}

// roff escapes a text for the formatter.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
