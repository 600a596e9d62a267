package testrepos

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/text/encoding"
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
	opEdit                     // search and replace in the present text
	opEntries                  // add PO entries to the present text
	opDrop                     // remove PO entries from the present text
	opMerge                    // renew from a POT, as msgmerge does; arg: its path
	opShift                    // add arg to every line number of #: comments
	opCopy                     // the bytes of arg (LABEL or LABEL:PATH)
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
