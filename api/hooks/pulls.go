package hooks

import (
	"context"
	"slices"
)

// Pulls is what hooks act on. Its methods are called from several goroutines.
type Pulls interface {
	// Branches lists the branches that are pulled. It does no I/O.
	Branches() []Branch
	// Components lists the components of a branch; none is no error. A
	// discovery that found nothing yet is one, without id.
	Components(ctx context.Context, key string) ([]Component, error)
	// Record stores entry 53 (decision 21) of components of a branch, at most
	// one per component and minute, and returns when it is durable. Components
	// that were never imported get none.
	Record(ctx context.Context, key string, components []int64, event map[string]string) error
	// Pull asks for a pull of a branch as soon as possible; calls that come
	// while one waits are one.
	Pull(key string)
}

// Branch is one branch of one repository that is pulled.
type Branch struct {
	// Key names it in all methods of Pulls.
	Key string
	// Repo is the repository's address without credentials.
	Repo string
	// Projects are the slugs of the projects that have components of it.
	Projects []string
}

// Component is a component as hooks see it.
type Component struct {
	// ID is its id in the store; 0 where there is none yet.
	ID int64
	// Project and Slug are its name in URLs.
	Project, Slug string
	// Branch is the configured branch; "" follows the remote's HEAD.
	Branch string
	// Tracking is the branch in use; "" before the first pull.
	Tracking string
	// Suggests reports of another branch whether its texts are suggestions for the
	// component; nil: of none.
	Suggests func(branch string) bool
	// Private says that strangers must not learn of it.
	Private bool
	// Enabled is enable_hooks of its project.
	Enabled bool
	// Secured says that only signed calls count. Secret is what they are signed
	// with; if it is "" none counts. It is never printed.
	Secured bool
	Secret  string
}

func (c *Component) name() string { return c.Project + "/" + c.Slug }

// follows reports whether a push to one of some branches, of which fallback is
// the repository's default, is news for the component (weblate-facts §12). No
// branches are any.
func (c *Component) follows(branches []string, fallback string) bool {
	use := c.Branch
	if use == "" {
		use = c.Tracking
	}
	if len(branches) == 0 || use == "" {
		return true
	}
	for _, b := range branches {
		// HEAD may have moved to a branch that no pull has seen yet.
		if b == use || c.Branch == "" && fallback != "" && b == fallback {
			return true
		}
	}
	return false
}

// suggestedBy reports whether a push to one of some branches is news for the
// component's suggestions alone.
func (c *Component) suggestedBy(branches []string, fallback string) bool {
	return c.Suggests != nil && !c.follows(branches, fallback) && slices.ContainsFunc(branches, c.Suggests)
}
