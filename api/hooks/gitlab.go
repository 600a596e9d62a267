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
