package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// handbook are the files that tell people what to type, by their names from the root
// of the repository.
func handbook(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{
		"*.md", "docs/*.md", "docs/deploy/*", ".github/actions/*/*", "docs/ci/*", ".pre-commit-hooks.yaml",
	} {
		files, err := filepath.Glob("../../" + pattern)
		must(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			must(t, err)
			texts[strings.TrimPrefix(filepath.ToSlash(file), "../../")] = string(text)
		}
	}
	return texts
}

var (
	// fenced and quoted are the code of a page.
	fenced = regexp.MustCompile("(?ms)^ *```[a-z]*\n(.*?)^ *```")
	quoted = regexp.MustCompile("`(repoglot [^`\n]*)`")
	// called is a call of the program within a line of a shell; variables may be set
	// before it.
	called = regexp.MustCompile(`(?:^|[|;&(] *|\$ |run: |RUN |sudo )(?:[A-Z_]+=\S* )*(?:[\w./-]*/)?repoglot((?: [^|;&)#<>]*)?)`)
	// optional is what usage lines and shells add to the words of a command.
	optional = strings.NewReplacer("[", "", "]", "", "…", "", "...", "", `"`, "", `'`, "", `\`, "", "$NUMBER", "7")
)

// TestCommandLines gives every command line of the manual to the command line's
// parser: command, flags and number of arguments must exist.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	count := 0
	for name, text := range handbook(t) {
		for _, line := range commandLines(name, text) {
			count++
			if err := parseLine(line); err != nil {
				t.Errorf("%s: repoglot %s: %v", name, line, err)
			}
		}
	}
	if count < 60 {
		t.Errorf("only %d command lines were found", count)
	}
}

// commandLines returns the arguments of the calls in the code of a page, or in a whole
// file that is no page.
func commandLines(name, text string) []string {
	var lines []string
	code := []string{text}
	if strings.HasSuffix(name, ".md") {
		code = nil
		for _, block := range fenced.FindAllStringSubmatch(text, -1) {
			code = append(code, block[1])
		}
		for _, words := range quoted.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			code = append(code, strings.ReplaceAll(words[1], `\|`, "/"))
		}
	}
	for _, block := range code {
		for line := range strings.Lines(block) {
			for _, call := range called.FindAllStringSubmatch(strings.TrimSpace(line), -1) {
				lines = append(lines, strings.TrimSpace(call[1]))
			}
		}
	}
	return lines
}

// parseLine returns why a command line is wrong. What the program prints begins with
// its name, too: "repoglot serves on …", "repoglot: …" and the version are no calls.
func parseLine(line string) error {
	words := strings.Fields(optional.Replace(line))
	if len(words) == 0 || words[0] == "COMMAND" || words[0] == "serves" || strings.HasPrefix(words[0], "v") && words[0] != "verify" && words[0] != "version" {
		return nil
	}
	root := new(program).command()
	root.SetOut(io.Discard)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	if err := cmd.ParseFlags(rest); err != nil {
		return flagError(cmd, err)
	}
	if help, err := cmd.Flags().GetBool("help"); help && err == nil || cmd.HasSubCommands() && cmd != root {
		return nil
	}
	return validate(cmd, cmd.Flags().Args())
}

// validate checks the number of arguments. A command that is only named, as in
// "repoglot backup copies the database", has none.
func validate(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return cmd.ValidateArgs(args)
}

// TestParseLine: wrong command lines are found.
func TestParseLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"serve --lisen :1 REPO":               "--listen",
		"srve REPO":                           "serve",
		"backup a b":                          "takes",
		"serve REPO":                          "",
		"token create --config r.yaml laptop": "",
		"--version":                           "",
	} {
		switch err := parseLine(line); {
		case err == nil && want != "":
			t.Errorf("repoglot %s: no error", line)
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("repoglot %s: %v, want %q", line, err, want)
		}
	}
}
