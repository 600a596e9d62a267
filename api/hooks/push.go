package hooks

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// push is what GitHub, GitLab, Gitea, Forgejo and Gitee send of a push or a request: each has a
// part of these fields.
type push struct {
	Ref        string   `json:"ref"`
	Repository pushedTo `json:"repository"`
	Project    pushedTo `json:"project"` // of GitLab

	Action  optionalText `json:"action"`
	Request struct {
		Base struct {
			Ref optionalText `json:"ref"`
		} `json:"base"`
	} `json:"pull_request"`
	Merge struct { // of GitLab
		Action optionalText `json:"action"`
		Target optionalText `json:"target_branch"`
	} `json:"object_attributes"`

	ofRequest bool // Ref is the branch that a request is to be merged into, which was opened, changed or ended
}

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

func readPush(payload []byte) (p push, err error) {
	err = json.Unmarshal(payload, &p)
	action, base := cmp.Or(p.Action, p.Merge.Action), cmp.Or(p.Request.Base.Ref, p.Merge.Target)
	if p.Ref == "" && slices.Contains([]optionalText{"opened", "reopened", "synchronize", "synchronized", "edited", "closed", "open", "reopen", "update", "close", "merge"}, action) {
		p.Ref, p.ofRequest = string(base), base != ""
	}
	return p, err
}

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
		branches: []string{p.Ref}, defaultBranch: cmp.Or(r.DefaultBranch, p.Project.DefaultBranch), ofRequest: p.ofRequest,
	}, nil
}

var github = service{name: "github", title: "GitHub", read: readGitHub, signed: hubSignature, signatures: []string{hubHeader}}

// readGitHub reads https://docs.github.com/webhooks/webhook-events-and-payloads, push and
// pull_request.
func readGitHub(h http.Header, payload []byte) (*notification, error) {
	p, err := readPush(payload)
	if event := h.Get("X-GitHub-Event"); err != nil || event != "push" && !(event == "pull_request" && p.ofRequest) {
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

var gitlab = service{name: "gitlab", title: "GitLab", read: readGitLab, signed: anyOf(tokenIn("X-Gitlab-Token"), standardSigned), signatures: []string{"Webhook-Signature"}}

// standardSkew is the time that a signature may differ from our clock, as the
// Standard Webhooks specification proposes.
const standardSkew = 5 * time.Minute

// readGitLab reads https://docs.gitlab.com/user/project/integrations/webhook_events/, of pushes and
// of merge requests.
func readGitLab(_ http.Header, payload []byte) (*notification, error) {
	p, err := readPush(payload)
	if err != nil || p.Ref == "" {
		return nil, err
	}
	r, name := &p.Repository, p.Project.Path
	if ssh := first(usable([]string{r.GitSSHURL, r.URL})); name == "" && !strings.Contains(ssh, "://") {
		_, name, _ = strings.Cut(strings.TrimSuffix(ssh, ".git"), ":")
	}
	n, err := p.notification(name)
	if err == nil && r.Homepage != "" {
		n.repos = append(n.repos, r.Homepage+".git")
	}
	return n, err
}

// standardSigned checks GitLab's signing token, which follows the Standard
// Webhooks specification. The key is whsec_ and base64.
func standardSigned(k *call, secret string) bool {
	id, stamp := k.header.Get("Webhook-Id"), k.header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || id == "" || k.now.Sub(time.Unix(seconds, 0)).Abs() > standardSkew {
		return false
	}
	key := secret
	if text, ok := strings.CutPrefix(secret, "whsec_"); ok {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(raw) == 0 {
			return false
		}
		key = string(raw)
	}
	want := mac(sha256.New, key, []byte(id+"."+stamp+"."), k.body)
	for field := range strings.FieldsSeq(k.header.Get("Webhook-Signature")) {
		text, ok := strings.CutPrefix(field, "v1,")
		given, err := base64.StdEncoding.DecodeString(text)
		if ok && err == nil && hmac.Equal(given, want) {
			return true
		}
	}
	return false
}

var gitea = service{
	name: "gitea", title: "Gitea", read: readGitea,
	signed:       anyOf(signedHex("X-Gitea-Signature", "", sha256.New), hubSignature),
	signsPayload: true, // services/webhook/deliver.go of both
	signatures:   []string{"X-Gitea-Signature", hubHeader},
}

var forgejo = service{
	name: "forgejo", title: "Forgejo", read: readGitea,
	signed:       anyOf(signedHex("X-Forgejo-Signature", "", sha256.New), gitea.signed),
	signsPayload: true,
	signatures:   []string{"X-Forgejo-Signature", "X-Gitea-Signature", hubHeader},
}

// readGitea reads https://docs.gitea.com/usage/webhooks and
// https://forgejo.org/docs/latest/user/webhooks/.
func readGitea(h http.Header, payload []byte) (*notification, error) {
	p, err := readPush(payload)
	if event := cmp.Or(h.Get("X-Forgejo-Event"), h.Get("X-Gitea-Event")); err != nil || p.Ref == "" && event != "" && event != "push" {
		return nil, err
	}
	return p.notification(p.Repository.FullName)
}

var gitee = service{name: "gitee", title: "Gitee", read: readGitee, signed: anyOf(tokenIn("X-Gitee-Token"), giteeSigned)}

// giteeSkew is the time that a signature may differ from our clock, as Gitee's
// manual says.
const giteeSkew = time.Hour

// readGitee reads https://help.gitee.com/webhook/gitee-webhook-push-data-format
func readGitee(_ http.Header, payload []byte) (*notification, error) {
	p, err := readPush(payload)
	if err != nil {
		return nil, err
	}
	return p.notification(p.Repository.Path)
}

// giteeSigned checks X-Gitee-Token in its second form: a signature of the time,
// not of the body.
func giteeSigned(k *call, secret string) bool {
	stamp, token := k.header.Get("X-Gitee-Timestamp"), k.header.Get("X-Gitee-Token")
	millis, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || k.now.Sub(time.UnixMilli(millis)).Abs() > giteeSkew {
		return false
	}
	if strings.Contains(token, "%") { // its manual escapes it for URLs
		if token, err = url.QueryUnescape(token); err != nil {
			return false
		}
	}
	given, err := base64.StdEncoding.DecodeString(token)
	return err == nil && hmac.Equal(given, mac(sha256.New, secret, []byte(stamp+"\n"+secret)))
}
