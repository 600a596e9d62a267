package testrepos

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/text/encoding"
)

// DefaultBranch is the branch of a scenario that names none.
const DefaultBranch = "main"

// Scenario is one parsed scenario: a repository before anything was made of it.
// README.md describes the text it comes from.
type Scenario struct {
	// Name is the file's name without its folder and .txtar.
	Name string
	// About is the human text at the top, without its # signs.
	About string
	// Branch is the default branch, to which HEAD points.
	Branch string
	// Initial is the number of steps in the initial push; 0 leaves the
	// repository empty.
	Initial int
	// Steps are the commits and reference moves, in the order they happen.
	Steps []Step
}

// Step is one commit, or one move of a reference.
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
	// Author and Committer are never zero once parsed.
	Author, Committer Person
	// Message ends in a newline.
	Message string
	// Branch is the branch that the step pushes to.
	Branch string
	// Parents are labels or branches; empty stands for the branch's tip.
	Parents []string
	// Orphan marks a commit without parents.
	Orphan bool
	// Merge are labels or branches that are further parents and whose changes
	// are merged file by file.
	Merge []string
	// Tree is a label or branch whose files the commit begins with; empty
	// stands for the first parent, merged with those of Merge.
	Tree string
	// Force allows the branch to lose commits.
	Force bool
	// Hold keeps the step back until the next one is pushed.
	Hold bool
	// Tags are light tags to put on the commit.
	Tags []string
	// Drop are branches that the same push deletes.
	Drop []string
	// Files are the changes to the commit's files, in order.
	Files []File
}

// Person is a git identity at a moment.
type Person struct {
	// Name and Email as in git, without angle brackets.
	Name, Email string
	// When keeps its time zone: it is part of the commit's hash.
	When time.Time
}

// File is one change to a file of a commit.
type File struct {
	// Path is the name in the tree, of any bytes; folders are split at "/" and
	// nothing is cleaned, so that ".." stays what it is.
	Path string
	// Line is the line of its section in the scenario.
	Line int

	text    []byte
	op      operation
	arg     string
	kind    fileKind
	charset encoding.Encoding // nil: UTF-8, as written
	bom     bool
	crlf    bool
	noEOL   bool
}

// operation says how the text of a section becomes the text of the file.
type operation int

const (
	opText    operation = iota // as it stands
	opDelete                   // the path, and what is below it, goes away
	opEdit                     // search and replace in the present text
	opEntries                  // put PO entries into the present text
	opDrop                     // take PO entries out of the present text
	opMerge                    // renew from a POT, as msgmerge does; arg: its path
	opShift                    // add arg to every line number of #: comments
	opCopy                     // the bytes that arg (LABEL or LABEL:PATH) has
	opRepeat                   // the part below %% arg times
	opBase64                   // decoded
)

// fileKind is the type of a tree entry.
type fileKind int

const (
	kindRegular fileKind = iota
	kindExecutable
	kindSymlink
	kindSubmodule
)

//go:embed scenarios/*.txtar
var scenarios embed.FS

// Named parses one of the scenarios that come with the package. The error of
// an unknown name lists the known ones.
func Named(name string) (*Scenario, error) {
	path := "scenarios/" + name + ".txtar"
	data, err := scenarios.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("scenario %q: not found; there are %s", name, strings.Join(Names(), ", "))
	}
	return Parse(path, data)
}

// Names lists the scenarios that come with the package, sorted.
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
