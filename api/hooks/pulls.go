package hooks

import (
	"cmp"
	"context"
	"slices"
)

// Pulls finds the components of a repository and pulls them. Its methods are
// called from several goroutines.
type Pulls interface {
	// Branches lists the branches that are pulled. It does no I/O.
	Branches() []Branch
	// Components lists the components of a branch, which may be none. A
	// discovery that found no component yet is listed without an id.
	Components(ctx context.Context, key string) ([]Component, error)
	// Record stores change entry 53 (docs/compatibility.md#component-events) for
	// components of a branch, at most one per component and minute, and returns
	// when it is durable. Components that were never imported get no entry.
	Record(ctx context.Context, key string, components []int64, event map[string]string) error
	// Pull asks for a pull of a branch as soon as possible. Calls that come while
	// the pull waits have no further effect.
	Pull(key string)
}

// Branch is a branch of a repository that is pulled.
type Branch struct {
	// Key names it in all methods of Pulls.
	Key string
	// Repo is the repository's address without credentials.
	Repo string
	// Projects are the slugs of the projects with components of this branch.
	Projects []string
	// Secrets are the secrets of its components, each once. They are never printed.
	Secrets []string
	// Open says that a component of it has no secret: any call may pull it.
	Open bool
}

// Component is a component in the terms of this package.
type Component struct {
	// ID is its id in the store; 0 if it is not stored yet.
	ID int64
	// Project and Slug name it in URLs.
	Project, Slug string
	// Branch is the configured branch; "" follows the remote's HEAD.
	Branch string
	// Tracking is the branch in use; "" before the first pull.
	Tracking string
	// Suggests reports whether the texts of another branch are suggestions for the
	// component; nil: never.
	Suggests func(branch string) bool
	// Private says that callers without its secret must not learn of it.
	Private bool
	// Enabled is enable_hooks of its project.
	Enabled bool
	// Secured says that only calls signed with Secret are accepted; if Secret is
	// "", none is. It is never printed.
	Secured bool
	Secret  string
}

func (c *Component) name() string { return c.Project + "/" + c.Slug }

// use is the branch in use; "" if the remote's HEAD is followed and was not pulled
// yet.
func (c *Component) use() string { return cmp.Or(c.Branch, c.Tracking) }

// follows reports whether a push to some branches may change the component
// (docs/compatibility.md#webhooks). An empty list means any branch.
func (c *Component) follows(branches []string, defaultBranch string) bool {
	use := c.use()
	if len(branches) == 0 || use == "" {
		return true
	}
	for _, b := range branches {
		// HEAD may have moved to a branch that no pull has seen yet.
		if b == use || c.Branch == "" && defaultBranch != "" && b == defaultBranch {
			return true
		}
	}
	return false
}

// suggestedBy reports whether a push to some branches may change only the
// component's suggestions.
func (c *Component) suggestedBy(branches []string, defaultBranch string) bool {
	return c.Suggests != nil && !c.follows(branches, defaultBranch) && slices.ContainsFunc(branches, c.Suggests)
}
