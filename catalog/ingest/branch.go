package ingest

import (
	"strings"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// Branch is what one pull is about: one branch of one repository with all the
// components that are read from it.
type Branch struct {
	// Remote is where to pull from, with its credential.
	Remote remote.Repository
	// Key names the branch in logs and schedules: the repository's address
	// without credentials, and the branch. See BranchKey.
	Key string
	// Components are those that the configuration names, discoveries included.
	Components []Component
}

// Component is a component as the configuration describes it.
type Component struct {
	// Spec holds its settings. A slug with {component} is a discovery: one
	// component per match of the mask (DESIGN, Configuration).
	Spec store.ComponentSpec
}

// discovers reports whether the component stands for all that its mask finds.
func (c *Component) discovers() bool { return strings.Contains(c.Spec.Slug, componentMark) }

// BranchKey is the Key of a branch; an empty branch is the remote's HEAD.
func BranchKey(repo, branch string) string {
	if branch == "" {
		branch = "HEAD"
	}
	return remote.Redact(repo) + "#" + branch
}

// Report tells what a pull did.
type Report struct {
	// Head is the commit that the branch stands at, "" if it could not be
	// fetched.
	Head string
	// Steps is the number of transactions that moved components.
	Steps int
	// Changes is the number of change entries written.
	Changes int64
	// Components tells of each component, in the order of their ids.
	Components []ComponentReport
	// NewFailures are the quality checks that fail since the pull.
	NewFailures NewFailures
}

// ComponentReport tells what a pull did to one component.
type ComponentReport struct {
	// ID is the component's id, Project and Slug its name. A discovery that
	// finds nothing is reported under its own slug, with the id 0.
	ID            int64
	Project, Slug string
	// Head is the commit that the component stands at now.
	Head string
	// Changes is the number of change entries written for it.
	Changes int64
	// Problems are the files that are not served and why, one line each, or that
	// there is no file. The rest of the component is served. Nil where the pull
	// had no reason to look: nothing is new then. The first pull of a process
	// always looks.
	Problems []string
	// Err is why the component is not at the branch's head; nil if it is.
	Err error
}
