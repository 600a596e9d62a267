package testrepos

import (
	"bytes"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
)

// DefaultBranch is the branch of a scenario that names no branch.
const DefaultBranch = "main"

// Scenario is a parsed scenario. README.md describes its text.
type Scenario struct {
	// Name is the file's name without its folder and .txtar.
	Name string
	// Branch is the default branch, which HEAD points to.
	Branch string
	// Initial is the number of steps in the initial push; 0 leaves the
	// repository empty.
	Initial int
	// Steps are the commits and reference moves, in order.
	Steps []Step
}

// Change is a commit. The zero value is an empty commit on the default branch by Test
// Author, one minute after its parent.
type Change struct {
	// Branch is the branch of the commit; "" means the default branch. A new branch
	// begins at Parents, or without a parent.
	Branch string
	// Files are the new texts by path.
	Files map[string]string `yaml:"-"`
	// Delete are paths, or folders with all files below them, that are deleted
	// first.
	Delete []string `yaml:"-"`
	// Author as `Name <email>`; "" means Test Author.
	Author string
	// Committer as `Name <email>`; "" means the author.
	Committer string
	// When is the author's time; zero means a minute after the youngest parent, or
	// 2024-01-01 09:00 UTC without one. Its time zone is part of the commit's hash.
	When time.Time `yaml:"date"`
	// Committed is the committer's time; zero means When.
	Committed time.Time
	// Message; "" means "Change".
	Message string
	// Parents are hashes, labels or branches; empty means the tip of the branch, and
	// "none" no parent. The commit begins with the files of the first one.
	Parents []string
	// Merge are further parents, whose changes are merged file by file.
	Merge []string
	// Force allows the branch to lose commits.
	Force bool
}

// Step is a commit of a scenario or a move of a reference.
type Step struct {
	// Change is the commit; its Files and Delete are empty.
	Change `yaml:",inline"`
	// Label names the step within its scenario, such as "3".
	Label string `yaml:"-"`
	// Line is the line of its section in the scenario.
	Line int `yaml:"-"`
	// RefOnly marks a step without a commit: Branch moves to To, or is deleted
	// if To is empty.
	RefOnly bool `yaml:"-"`
	// To is a label or branch, for RefOnly.
	To string
	// Tree is a label or branch whose files the commit begins with; empty means the
	// first parent, merged with those of Merge.
	Tree string
	// Hold says that the step is pushed together with the next one.
	Hold bool
	// Tags are lightweight tags of the commit.
	Tags []string
	// Drop are branches that the same push deletes.
	Drop []string

	changes []File // in order
}

// File is one change to a file of a commit.
type File struct {
	// Path is the name in the tree, of any bytes; folders are split at "/", and
	// ".." is not resolved.
	Path string
	// Line is the line of its section in the scenario.
	Line int

	text    []byte
	op      string            // the directive that makes the text; "": the text itself
	arg     string            // the POT of msgmerge, the number of repeat
	mode    filemode.FileMode // 0: a regular file
	charset encoding.Encoding // nil: UTF-8, as written
	bom     bool
	crlf    bool
	noEOL   bool
}

//go:embed scenarios/*.txtar
var scenarios embed.FS

// Named parses a scenario of this package. The error for an unknown name lists the
// known ones.
func Named(name string) (*Scenario, error) {
	path := "scenarios/" + name + ".txtar"
	data, err := scenarios.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("scenario %q: not found; there are %s", name, strings.Join(Names(), ", "))
	}
	return Parse(path, data)
}

// Names lists the scenarios of this package, sorted.
func Names() []string {
	names, err := fs.Glob(scenarios, "scenarios/*.txtar")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range names {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(f, "scenarios/"), ".txtar")
	}
	return names
}

// parseFile reads `PATH` or `PATH (directive, …)`; PATH may be a Go string in
// double quotes, for names that a txtar line cannot have.
func parseFile(name string, data []byte) (File, error) {
	f := File{Path: name, text: data}
	var directives string
	if i := strings.LastIndex(name, " ("); i > 0 && strings.HasSuffix(name, ")") {
		f.Path, directives = strings.TrimSpace(name[:i]), name[i+2:len(name)-1]
	}
	if strings.HasPrefix(f.Path, `"`) {
		path, err := strconv.Unquote(f.Path)
		if err != nil {
			return f, fmt.Errorf("file name %s is no Go string", f.Path)
		}
		f.Path = path
	}
	for part := range strings.SplitSeq(f.Path, "/") {
		if part == "" || strings.Contains(part, "\x00") {
			return f, fmt.Errorf("file name %q: git has no names that are empty or contain NUL", f.Path)
		}
	}
	for d := range strings.SplitSeq(directives, ",") {
		if d = strings.TrimSpace(d); d != "" {
			if err := f.directive(d); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

// directive applies one directive from the parentheses.
func (f *File) directive(d string) (err error) {
	switch word, arg, _ := strings.Cut(d, " "); word {
	case "deleted", "entries", "msgmerge", "repeat", "base64":
		if f.op != "" {
			return fmt.Errorf("two directives that make the text; write two sections")
		}
		f.op, f.arg = word, arg
	case "symlink":
		f.mode = filemode.Symlink
	case "submodule":
		f.mode = filemode.Submodule
	case "bom":
		f.bom = true
	case "crlf":
		f.crlf = true
	case "no-eol":
		f.noEOL = true
	case "charset":
		if f.charset, err = ianaindex.MIME.Encoding(arg); err != nil || f.charset == nil {
			f.charset, err = htmlindex.Get(arg)
		}
		if err != nil {
			return fmt.Errorf("charset %q is not known to x/text", arg)
		}
	default:
		return fmt.Errorf("unknown directive %q; README.md of testrepos lists them", word)
	}
	return nil
}

// encode turns text into the bytes of the file.
func (f *File) encode(text []byte) ([]byte, error) {
	if f.noEOL || f.mode == filemode.Symlink {
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	if f.crlf {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	if f.charset != nil {
		var err error
		if text, err = f.charset.NewEncoder().Bytes(text); err != nil {
			return nil, fmt.Errorf("text does not fit its charset: %w", err)
		}
	}
	if f.bom {
		text = append([]byte("\ufeff"), text...)
	}
	return text, nil
}

// decode64 decodes base64 in lines.
func decode64(text []byte) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(text)), ""))
}

// maxRepeat bounds (repeat N): with a body of 100 bytes it makes 100 MB.
const maxRepeat = 1_000_000

// repeat writes the part above the line %% once and the part below it n times, with
// {n} counting from 1 and {nn} padded to seven digits.
func repeat(text []byte, times string) ([]byte, error) {
	n, err := strconv.Atoi(times)
	if err != nil || n < 0 || n > maxRepeat {
		return nil, fmt.Errorf("repeat %q: want a number up to %d", times, maxRepeat)
	}
	head, body, ok := bytes.Cut(text, []byte("%%\n"))
	if !ok {
		head, body = nil, text
	}
	out := bytes.Clone(head)
	for i := 1; i <= n; i++ {
		b := bytes.ReplaceAll(body, []byte("{n}"), strconv.AppendInt(nil, int64(i), 10))
		out = append(out, bytes.ReplaceAll(b, []byte("{nn}"), fmt.Appendf(nil, "%07d", i))...)
	}
	return out, nil
}
