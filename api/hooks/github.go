package hooks

import (
	"net/http"
	"strings"
)

var github = service{name: "github", title: "GitHub", read: readGitHub, signed: hubSignature, signatures: []string{hubHeader}}

// readGitHub reads https://docs.github.com/webhooks/webhook-events-and-payloads#push
func readGitHub(h http.Header, payload []byte) (*notification, error) {
	p, err := readPush(payload)
	if err != nil || h.Get("X-GitHub-Event") != "push" {
		return nil, err
	}
	r, name := &p.Repository, ""
	if owner := first(usable([]string{r.Owner.Login, r.Owner.Name})); owner != "" && r.Name != "" {
		name = owner + "/" + r.Name
	}
	n, err := p.notification(name)
	if err != nil {
		return nil, err
	}
	if path := name + ".git"; r.CloneURL == "" && name != "" {
		n.repos = append(n.repos, "git://github.com/"+path, "https://github.com/"+path, "git@github.com:"+path)
	}
	for _, u := range n.repos {
		n.repos = append(n.repos, strings.TrimSuffix(u, ".git"))
	}
	return n, nil
}
