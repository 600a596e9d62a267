package hooks

import (
	"net/http"
	"strings"
)

var github = service{name: "github", title: "GitHub", read: readGitHub, signed: hubSignature, signatures: []string{hubHeader}}

// readGitHub reads https://docs.github.com/webhooks/webhook-events-and-payloads#push
func readGitHub(h http.Header, payload []byte) (*notification, error) {
	var p struct {
		Ref        string `json:"ref"`
		Repository *struct {
			Name          string `json:"name"`
			DefaultBranch string `json:"default_branch"`
			Owner         struct {
				Login string `json:"login"`
				Name  string `json:"name"`
			} `json:"owner"`
			CloneURL string `json:"clone_url"`
			GitURL   string `json:"git_url"`
			SSHURL   string `json:"ssh_url"`
			SVNURL   string `json:"svn_url"`
			HTMLURL  string `json:"html_url"`
			URL      string `json:"url"`
		} `json:"repository"`
	}
	if err := decode(payload, &p); err != nil {
		return nil, err
	}
	if h.Get("X-GitHub-Event") != "push" {
		return nil, nil
	}
	r := p.Repository
	if r == nil || p.Ref == "" || r.Name == "" || r.Owner.Login+r.Owner.Name == "" {
		return nil, errMissingField
	}
	owner := first(usable([]string{r.Owner.Login, r.Owner.Name}))
	n := &notification{
		fullName: owner + "/" + r.Name, repoURL: r.URL,
		branches: []string{p.Ref}, defaultBranch: r.DefaultBranch,
	}
	urls := []string{r.CloneURL, r.GitURL, r.SSHURL, r.SVNURL, r.HTMLURL, r.URL}
	if r.CloneURL == "" {
		path := n.fullName + ".git"
		urls = append(urls, "git://github.com/"+path, "https://github.com/"+path, "git@github.com:"+path)
	}
	for _, u := range urls {
		n.repos = append(n.repos, u, strings.TrimSuffix(u, ".git"))
	}
	return n, nil
}
