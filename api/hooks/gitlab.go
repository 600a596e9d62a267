package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

var gitlab = service{name: "gitlab", title: "GitLab", read: readGitLab, signed: anyOf(tokenIn("X-Gitlab-Token"), standardSigned), signatures: []string{"Webhook-Signature"}}

// standardSkew is the time that a signature may differ from our clock, as the
// Standard Webhooks specification proposes.
const standardSkew = 5 * time.Minute

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
		return nil, errMissingField
	}
	n := &notification{
		fullName: p.Project.FullName, repoURL: r.Homepage,
		branches: []string{*p.Ref}, defaultBranch: p.Project.DefaultBranch,
		repos: []string{r.URL, r.GitHTTPURL, r.GitSSHURL, r.Homepage},
	}
	if r.Homepage != "" {
		n.repos = append(n.repos, r.Homepage+".git")
	}
	if ssh := first(usable([]string{r.GitSSHURL, r.URL})); n.fullName == "" && !strings.Contains(ssh, "://") {
		_, name, _ := strings.Cut(ssh, ":")
		n.fullName = strings.TrimSuffix(name, ".git")
	}
	return n, nil
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
