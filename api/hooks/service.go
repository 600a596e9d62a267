package hooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// service is one code hosting service.
type service struct {
	// name stands in the path.
	name string
	// read makes a notification of a payload: nil of an event that is no push,
	// an error of a payload that lacks what the service sends (weblate-facts §12).
	read func(h http.Header, payload []byte) (*notification, error)
	// signed reports whether a call proves, in the way of the service, that its
	// caller knows a secret.
	signed func(k *call, secret string) bool
}

// services is the table of those that can call. It is never changed.
var services = []service{
	{"github", readGitHub, hub()},
	{"gitlab", readGitLab, anyOf(tokenIn("X-Gitlab-Token"), standardSigned)},
	{"gitea", readGitea, anyOf(signedHex("X-Gitea-Signature", "", sha256.New), hub())},
	{"forgejo", readForgejo, anyOf(signedHex("X-Forgejo-Signature", "", sha256.New), signedHex("X-Gitea-Signature", "", sha256.New), hub())},
	{"bitbucket", readBitbucket, anyOf(signedHex("X-Hub-Signature", "sha256=", sha256.New), hub())},
	{"azure", readAzure, func(*call, string) bool { return false }}, // a password: bearer
	{"pagure", readPagure, pagureSigned()},
	{"gitee", readGitee, anyOf(tokenIn("X-Gitee-Token"), giteeSigned)},
}

// errLacking is a payload that is JSON and not what the service sends.
var errLacking = errors.New("the payload lacks what a push has")

// decode reads a payload. Keys that nobody asks for are skipped.
func decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("reading the payload: %w", err)
	}
	return nil
}

// few is a list of which no more than maxURLs entries are read: a body of 25
// MiB holds millions of empty objects.
type few[T any] []T

// UnmarshalJSON reads the beginning of a list.
func (f *few[T]) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	t, err := d.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return errLacking
	}
	for d.More() && len(*f) < maxURLs {
		var one T
		if err := d.Decode(&one); err != nil {
			return err
		}
		*f = append(*f, one)
	}
	return nil
}

// word is a text; whatever else stands there is "".
type word string

// UnmarshalJSON reads a text.
func (w *word) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return nil
	}
	return json.Unmarshal(data, (*string)(w))
}

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
		return nil, errLacking
	}
	owner := first(sound([]string{r.Owner.Login, r.Owner.Name}))
	n := &notification{
		service: "GitHub", fullName: owner + "/" + r.Name, repoURL: r.URL,
		branches: []string{p.Ref}, fallback: r.DefaultBranch,
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

// readGitLab reads https://docs.gitlab.com/user/project/integrations/webhook_events/#push-events
func readGitLab(_ http.Header, payload []byte) (*notification, error) {
	var p struct {
		Ref        *string `json:"ref"`
		Repository *struct {
			URL        string `json:"url"`
			Homepage   string `json:"homepage"`
			GitHTTPURL string `json:"git_http_url"`
			GitSSHURL  string `json:"git_ssh_url"`
		} `json:"repository"`
		Project struct {
			FullName      string `json:"path_with_namespace"`
			DefaultBranch string `json:"default_branch"`
		} `json:"project"`
	}
	if err := decode(payload, &p); err != nil {
		return nil, err
	}
	if p.Ref == nil {
		return nil, nil
	}
	r := p.Repository
	if r == nil || r.URL == "" && r.GitHTTPURL == "" && r.GitSSHURL == "" {
		return nil, errLacking
	}
	n := &notification{
		service: "GitLab", fullName: p.Project.FullName, repoURL: r.Homepage,
		branches: []string{*p.Ref}, fallback: p.Project.DefaultBranch,
		repos: []string{r.URL, r.GitHTTPURL, r.GitSSHURL, r.Homepage},
	}
	if r.Homepage != "" {
		n.repos = append(n.repos, r.Homepage+".git")
	}
	if ssh := first(sound([]string{r.GitSSHURL, r.URL})); n.fullName == "" && !strings.Contains(ssh, "://") {
		_, name, _ := strings.Cut(ssh, ":")
		n.fullName = strings.TrimSuffix(name, ".git")
	}
	return n, nil
}

// readGitea reads https://docs.gitea.com/usage/webhooks
func readGitea(h http.Header, payload []byte) (*notification, error) {
	return readGogs("Gitea", h.Get("X-Gitea-Event"), payload)
}

// readForgejo reads https://forgejo.org/docs/latest/user/webhooks/
func readForgejo(h http.Header, payload []byte) (*notification, error) {
	return readGogs("Forgejo", first(sound([]string{h.Get("X-Forgejo-Event"), h.Get("X-Gitea-Event")})), payload)
}

// readGogs reads what Gitea and its kin send. Other events than push have no ref.
func readGogs(service, event string, payload []byte) (*notification, error) {
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
		return nil, errLacking
	}
	return &notification{
		service: service, fullName: r.FullName, repoURL: r.HTMLURL,
		branches: []string{p.Ref}, fallback: r.DefaultBranch,
		repos: []string{r.CloneURL, r.SSHURL, r.HTMLURL},
	}, nil
}

// readGitee reads https://help.gitee.com/webhook/gitee-webhook-push-data-format
func readGitee(_ http.Header, payload []byte) (*notification, error) {
	var p struct {
		Ref        string `json:"ref"`
		Repository *struct {
			FullName      string `json:"path_with_namespace"`
			GitHTTPURL    string `json:"git_http_url"`
			GitSSHURL     string `json:"git_ssh_url"`
			GitURL        string `json:"git_url"`
			SSHURL        string `json:"ssh_url"`
			CloneURL      string `json:"clone_url"`
			HTMLURL       string `json:"html_url"`
			DefaultBranch string `json:"default_branch"`
		} `json:"repository"`
	}
	if err := decode(payload, &p); err != nil {
		return nil, err
	}
	r := p.Repository
	if p.Ref == "" || r == nil || r.FullName == "" {
		return nil, errLacking
	}
	return &notification{
		service: "Gitee", fullName: r.FullName, repoURL: r.HTMLURL,
		branches: []string{p.Ref}, fallback: r.DefaultBranch,
		repos: []string{r.GitHTTPURL, r.GitSSHURL, r.GitURL, r.SSHURL, r.CloneURL, r.HTMLURL},
	}, nil
}
