package wire

import (
	"cmp"

	"github.com/repoglot/repoglot/catalog"
)

// ProjectRepository is the state of a project's repositories
// (docs/compatibility.md#repository-status).
type ProjectRepository struct {
	NeedsCommit bool   `json:"needs_commit"`
	NeedsMerge  bool   `json:"needs_merge"`
	NeedsPush   bool   `json:"needs_push"`
	URL         string `json:"url"`
}

// Repository is the state of the repository of a component or a translation.
type Repository struct {
	ProjectRepository
	RemoteCommit  *Commit `json:"remote_commit"`
	WeblateCommit *Commit `json:"weblate_commit"`
	Status        string  `json:"status"`
	MergeFailure  *string `json:"merge_failure"`
}

// Commit is a commit. E-mail addresses are always empty, so author and commit
// are names only.
type Commit struct {
	Revision      string  `json:"revision"`
	ShortRevision string  `json:"shortrevision"`
	Author        string  `json:"author"`
	AuthorName    string  `json:"author_name"`
	AuthorEmail   string  `json:"author_email"`
	AuthorDate    *string `json:"authordate"`
	Commit        string  `json:"commit"`
	CommitName    string  `json:"commit_name"`
	CommitEmail   string  `json:"commit_email"`
	CommitDate    *string `json:"commitdate"`
	Message       string  `json:"message"`
	Summary       string  `json:"summary"`
}

// NeedsMerge reports whether the remote has commits whose strings are not
// served: before the first import, and while a component waits to be read
// again. It knows nothing of commits after the last pull.
func NeedsMerge(c *catalog.Component) bool { return !c.Imported || c.Head == "" }

// NewRepository makes the state of the repository of a component. commit is nil if
// none is known; path is the resource that the repository belongs to, and failure what the
// client may see of one.
func NewRepository(l Links, c *catalog.Component, commit *catalog.Commit, path, failure string) Repository {
	o := Repository{
		ProjectRepository: ProjectRepository{NeedsMerge: NeedsMerge(c), URL: l.API(path + "repository/")},
		RemoteCommit:      newCommit(commit),
		Status:            statusOf(c),
		MergeFailure:      OrNull(failure),
	}
	o.WeblateCommit = o.RemoteCommit // what is served is what was fetched last
	return o
}

// statusOf is worded like git status in a repository without changes of its
// own.
func statusOf(c *catalog.Component) string {
	branch := cmp.Or(branchOf(c), "HEAD")
	state := "Your branch is up to date with 'origin/" + branch + "'."
	switch {
	case c.Problem.Failed():
		state = "The last pull from 'origin/" + branch + "' failed."
	case c.PushProblem.Failed():
		state = "The last push of edits failed."
	case NeedsMerge(c):
		state = "No commits of 'origin/" + branch + "' are imported yet."
	}
	return "On branch " + branch + "\n" + state + "\n\nnothing to commit, working tree clean\n"
}

func newCommit(c *catalog.Commit) *Commit {
	if c == nil {
		return nil
	}
	return &Commit{
		Revision: c.Hash, ShortRevision: c.Hash[:min(7, len(c.Hash))],
		Author: c.Author, AuthorName: c.Author, AuthorDate: timeOrNull(c.AuthorTime),
		Commit: c.Committer, CommitName: c.Committer, CommitDate: timeOrNull(c.CommitTime),
		Message: c.Message, Summary: c.Summary(),
	}
}
