package hooks

import "cmp"

// push is what GitHub, GitLab, Gitea, Forgejo and Gitee send of a push: each has a part of
// these fields.
type push struct {
	Ref        string   `json:"ref"`
	Repository pushedTo `json:"repository"`
	Project    pushedTo `json:"project"` // of GitLab
}

// pushedTo is the repository of a push.
type pushedTo struct {
	Name          string `json:"name"`
	FullName      string `json:"full_name"`
	Path          string `json:"path_with_namespace"`
	DefaultBranch string `json:"default_branch"`
	Owner         struct {
		Login string `json:"login"`
		Name  string `json:"name"`
	} `json:"owner"`
	CloneURL   string `json:"clone_url"`
	GitURL     string `json:"git_url"`
	SSHURL     string `json:"ssh_url"`
	SVNURL     string `json:"svn_url"`
	HTMLURL    string `json:"html_url"`
	URL        string `json:"url"`
	GitHTTPURL string `json:"git_http_url"`
	GitSSHURL  string `json:"git_ssh_url"`
	Homepage   string `json:"homepage"`
}

// readPush reads a payload.
func readPush(payload []byte) (p push, err error) { return p, decode(payload, &p) }

// notification makes the notification of a push to the repository with a full name, which
// may be "" if there is an address.
func (p *push) notification(fullName string) (*notification, error) {
	r := &p.Repository
	urls := []string{r.CloneURL, r.GitURL, r.SSHURL, r.SVNURL, r.HTMLURL, r.URL, r.GitHTTPURL, r.GitSSHURL, r.Homepage}
	if p.Ref == "" || cmp.Or(fullName, first(usable(urls))) == "" {
		return nil, errMissingField
	}
	return &notification{
		fullName: fullName, repoURL: cmp.Or(r.HTMLURL, r.Homepage, r.URL), repos: urls,
		branches: []string{p.Ref}, defaultBranch: cmp.Or(r.DefaultBranch, p.Project.DefaultBranch),
	}, nil
}
