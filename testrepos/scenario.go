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
	// About is the comment at the top, without its # signs.
	About string
	// Branch is the default branch, which HEAD points to.
	Branch string
	// Initial is the number of steps in the initial push; 0 leaves the
	// repository empty.
	Initial int
	// Steps are the commits and reference moves, in order.
	Steps []Step
}

// Step is a commit or a move of a reference.
type Step struct {
	// Label names the step within its scenario, such as "3".
	Label string
	// Line is the line of its section in the scenario.
	Line int
	// RefOnly marks a step without a commit: Branch moves to To, or is deleted
	// if To is empty.
	RefOnly bool
	// To is a label or branch, for RefOnly.
	To string
	// Author and Committer are never zero after Parse.
	Author, Committer Person
	// Message ends in a newline.
	Message string
	// Branch is the branch that the step pushes to.
	Branch string
	// Parents are labels or branches; empty means the branch's tip.
	Parents []string
	// Orphan marks a commit without parents.
	Orphan bool
	// Merge are the labels or branches of further parents, whose changes are merged
	// file by file.
	Merge []string
	// Tree is a label or branch whose files the commit begins with; empty means the
	// first parent, merged with those of Merge.
	Tree string
	// Force allows the branch to lose commits.
	Force bool
	// Hold says that the step is pushed together with the next one.
	Hold bool
	// Tags are lightweight tags of the commit.
	Tags []string
	// Drop are branches that the same push deletes.
	Drop []string
	// Files are the changes to the commit's files, in order.
	Files []File
}

// Person is a git identity at a time.
type Person struct {
	// Name and Email as in git, without angle brackets.
	Name, Email string
	// When keeps its time zone: it is part of the commit's hash.
	When time.Time
}

// File is one change to a file of a commit.
type File struct {
	// Path is the name in the tree, of any bytes; folders are split at "/", and
	// ".." is not resolved.
	Path string
	// Line is the line of its section in the scenario.
	Line int

	text    []byte
	op      operation
	arg     string
	kind    filemode.FileMode // 0: a regular file
	charset encoding.Encoding // nil: UTF-8, as written
	bom     bool
	crlf    bool
	noEOL   bool
}

// operation says how the text of a section changes the file.
type operation int

const (
	opText    operation = iota // the text itself
	opDelete                   // delete the path and all files below it
	opEntries                  // add PO entries to the present text
	opMerge                    // renew from a POT, as msgmerge does; arg: its path
	opRepeat                   // the part below %% arg times
	opBase64                   // decoded
)

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
	files, err := fs.Glob(scenarios, "scenarios/*.txtar")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(f, "scenarios/"), ".txtar"))
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
	for _, part := range strings.Split(f.Path, "/") {
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
	return f, f.check()
}

// operations are the directives that make the text.
var operations = map[string]operation{
	"deleted": opDelete, "entries": opEntries, "msgmerge": opMerge,
	"repeat": opRepeat, "base64": opBase64,
}

// kinds are the directives that make another kind of entry.
var kinds = map[string]filemode.FileMode{
	"symlink": filemode.Symlink, "executable": filemode.Executable, "submodule": filemode.Submodule,
}

// directive applies one word from the parentheses.
func (f *File) directive(d string) error {
	word, arg, _ := strings.Cut(d, " ")
	if op := operations[word]; op != opText {
		if f.op != opText {
			return fmt.Errorf("two directives that make the text; write two sections")
		}
		f.op, f.arg = op, arg
		return nil
	}
	if kind, ok := kinds[word]; ok {
		f.kind = kind
		return nil
	}
	switch word {
	case "bom":
		f.bom = true
	case "crlf":
		f.crlf = true
	case "no-eol":
		f.noEOL = true
	case "charset":
		return f.setCharset(arg)
	default:
		return fmt.Errorf("unknown directive %q; README.md of testrepos lists them", word)
	}
	return nil
}

func (f *File) setCharset(name string) error {
	enc, err := ianaindex.MIME.Encoding(name)
	if err != nil || enc == nil {
		if enc, err = htmlindex.Get(name); err != nil {
			return fmt.Errorf("charset %q is not known to x/text", name)
		}
	}
	f.charset = enc
	return nil
}

// check returns an error for wrong arguments before anything is written.
func (f *File) check() error {
	switch f.op {
	case opMerge:
		if f.arg == "" {
			return fmt.Errorf("directive needs an argument: (msgmerge POT)")
		}
	case opRepeat:
		if n, err := strconv.Atoi(f.arg); err != nil || n < 0 || n > maxRepeat {
			return fmt.Errorf("repeat %q: want a number up to %d", f.arg, maxRepeat)
		}
	case opBase64:
		if _, err := decode64(f.text); err != nil {
			return fmt.Errorf("base64: %w", err)
		}
	case opEntries:
		if f.charset != nil || f.bom || f.crlf {
			return fmt.Errorf("entries are for files in UTF-8 with line feeds")
		}
	}
	return nil
}

// encode turns text into the bytes of the file.
func (f *File) encode(text []byte) ([]byte, error) {
	if f.noEOL || f.kind == filemode.Symlink {
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

func decode64(text []byte) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(text)), ""))
}
