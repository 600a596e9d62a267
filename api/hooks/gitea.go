package hooks

import (
	"crypto/sha256"
	"net/http"
)

var gitea = service{name: "gitea", title: "Gitea", read: readGitea, signed: anyOf(signedHex("X-Gitea-Signature", "", sha256.New), hubSignature), signsPayload: true, signatures: []string{"X-Gitea-Signature", hubHeader}}

// readGitea reads https://docs.gitea.com/usage/webhooks
func readGitea(h http.Header, payload []byte) (*notification, error) {
	return readGiteaPayload(h.Get("X-Gitea-Event"), payload)
}

// readGiteaPayload reads what Gitea and Forgejo send. Only pushes have a ref.
func readGiteaPayload(event string, payload []byte) (*notification, error) {
	var p struct {
		Ref        string `json:"ref"`
		Repository *struct {
			FullName      string `json:"full_name"`
			CloneURL      string `json:"clone_url"`
			SSHURL        string `json:"ssh_url"`
			HTMLURL       string `json:"html_url"`
			DefaultBranch string `json:"default_branch"`
		} `json:"repository"`
	}
	if err := decode(payload, &p); err != nil {
		return nil, err
	}
	r := p.Repository
	switch {
	case p.Ref == "" && event != "" && event != "push":
		return nil, nil
	case p.Ref == "" || r == nil || r.FullName == "":
		return nil, errMissingField
	}
	return &notification{
		fullName: r.FullName, repoURL: r.HTMLURL,
		branches: []string{p.Ref}, defaultBranch: r.DefaultBranch,
		repos: []string{r.CloneURL, r.SSHURL, r.HTMLURL},
	}, nil
}

var forgejo = service{
	name: "forgejo", title: "Forgejo", read: readForgejo,
	signed:       anyOf(signedHex("X-Forgejo-Signature", "", sha256.New), gitea.signed),
	signsPayload: true, // services/webhook/deliver.go of both
	signatures:   []string{"X-Forgejo-Signature", "X-Gitea-Signature", hubHeader},
}

// readForgejo reads https://forgejo.org/docs/latest/user/webhooks/
func readForgejo(h http.Header, payload []byte) (*notification, error) {
	return readGiteaPayload(first(usable([]string{h.Get("X-Forgejo-Event"), h.Get("X-Gitea-Event")})), payload)
}
