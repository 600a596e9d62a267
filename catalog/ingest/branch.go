package ingest

import (
	"strings"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Branch is one branch of one repository with all components that are read from
// it. A pull is about one Branch.
type Branch struct {
	// Remote is where to pull from, with its credential.
	Remote remote.Repository
	// Key names the branch in logs and schedules: the repository's address
	// without credentials, and the branch. See BranchKey.
	Key string
	// Components are the components of the configuration, discoveries included.
	Components []Component
}

// Component is a component as the configuration describes it.
type Component struct {
	// Spec holds its settings. A slug with {component} is a discovery: one
	// component per match of the mask.
	Spec store.ComponentSpec
}

// discovers reports whether the component is a discovery.
func (c *Component) discovers() bool { return strings.Contains(c.Spec.Slug, componentMark) }

// BranchKey returns the Key of a branch; an empty branch is the remote's HEAD.
func BranchKey(repo, branch string) string {
	if branch == "" {
		branch = "HEAD"
	}
	return repourl.Redact(repo) + "#" + branch
}
