package hooks

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// push is what GitHub, GitLab, Gitea, Forgejo and Gitee send of a push or a request: each has a
// part of these fields.
type push struct {
	ref                 string
	ofRequest           bool // ref is the branch that a request is to be merged into, which was opened, changed or ended
	repository, project texts
}

func readPush(payload texts) (p push) {
	merge := payload.part("object_attributes") // of GitLab
	p = push{payload.text("ref"), false, payload.part("repository"), payload.part("project")}
	action, base := cmp.Or(payload.text("action"), merge.text("action")), cmp.Or(payload.part("pull_request").text("base.ref"), merge.text("target_branch"))
	if p.ref == "" && slices.Contains([]string{"opened", "reopened", "synchronize", "synchronized", "edited", "closed", "open", "reopen", "update", "close", "merge"}, action) {
		p.ref, p.ofRequest = base, base != ""
	}
	return p
}

// notification is that of a push to the repository of a full name, "" if there is an address.
func (p *push) notification(fullName string) (*notification, error) {
	urls := p.repository.all("clone_url", "git_url", "ssh_url", "svn_url", "html_url", "url", "git_http_url", "git_ssh_url", "homepage")
	if p.ref == "" || cmp.Or(fullName, firstUsable(urls...)) == "" {
		return nil, errMissingField
	}
	return &notification{
		fullName: fullName, repoURL: p.repository.text("html_url", "homepage", "url"), repos: urls, branches: []string{p.ref},
		defaultBranch: cmp.Or(p.repository.text("default_branch"), p.project.text("default_branch")), ofRequest: p.ofRequest,
	}, nil
}

var github = service{name: "github", title: "GitHub", read: readGitHub, signed: hubSignature, signatures: []string{hubHeader}}

// readGitHub reads https://docs.github.com/webhooks/webhook-events-and-payloads, push and
// pull_request.
func readGitHub(h http.Header, payload texts) (*notification, error) {
	p, name := readPush(payload), ""
	if event := h.Get("X-GitHub-Event"); event != "push" && !(event == "pull_request" && p.ofRequest) {
		return nil, nil
	}
	owner, own := firstUsable(p.repository.all("owner.login", "owner.name")...), p.repository.text("name")
	if owner != "" && own != "" {
		name = owner + "/" + own
	}
	n, err := p.notification(name)
	if err != nil {
		return nil, err
	}
	if path := name + ".git"; p.repository.text("clone_url") == "" && name != "" {
		n.repos = append(n.repos, "git://github.com/"+path, "https://github.com/"+path, "git@github.com:"+path)
	}
	for _, u := range n.repos {
		n.repos = append(n.repos, strings.TrimSuffix(u, ".git"))
	}
	return n, nil
}

var gitlab = service{name: "gitlab", title: "GitLab", read: readGitLab, signed: anyOf(tokenIn("X-Gitlab-Token"), standardSigned), signatures: []string{"Webhook-Signature"}}

// standardSkew is how much a signature's time may differ, as Standard Webhooks proposes.
const standardSkew = 5 * time.Minute

// readGitLab reads https://docs.gitlab.com/user/project/integrations/webhook_events/, of pushes and
// of merge requests.
func readGitLab(_ http.Header, payload texts) (*notification, error) {
	p := readPush(payload)
	if p.ref == "" {
		return nil, nil
	}
	name := p.project.text("path_with_namespace")
	if ssh := firstUsable(p.repository.all("git_ssh_url", "url")...); name == "" && !strings.Contains(ssh, "://") {
		_, name, _ = strings.Cut(strings.TrimSuffix(ssh, ".git"), ":")
	}
	n, err := p.notification(name)
	if page := p.repository.text("homepage"); err == nil && page != "" {
		n.repos = append(n.repos, page+".git")
	}
	return n, err
}

// standardSigned checks GitLab's signing token, which follows the Standard
// Webhooks specification. The key is whsec_ and base64.
func standardSigned(k *call, secret string) bool {
	seconds, err := strconv.ParseInt(k.header.Get("Webhook-Timestamp"), 10, 64)
	if err != nil || k.now.Sub(time.Unix(seconds, 0)).Abs() > standardSkew {
		return false
	}
	hook, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	if text, ok := strings.CutPrefix(secret, "whsec_"); ok && text != "" {
		hook, err = standardwebhooks.NewWebhook(text)
	}
	return err == nil && hook.VerifyIgnoringTimestamp(k.body, k.header) == nil
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
func readGitea(h http.Header, payload texts) (*notification, error) {
	p := readPush(payload)
	if event := cmp.Or(h.Get("X-Forgejo-Event"), h.Get("X-Gitea-Event")); p.ref == "" && event != "" && event != "push" {
		return nil, nil
	}
	return p.notification(p.repository.text("full_name"))
}

var gitee = service{name: "gitee", title: "Gitee", read: readGitee, signed: anyOf(tokenIn("X-Gitee-Token"), giteeSigned)}

// giteeSkew is the time that a signature may differ from our clock, as Gitee's manual says.
const giteeSkew = time.Hour

// readGitee reads https://help.gitee.com/webhook/gitee-webhook-push-data-format
func readGitee(_ http.Header, payload texts) (*notification, error) {
	p := readPush(payload)
	return p.notification(p.repository.text("path_with_namespace"))
}

// giteeSigned checks X-Gitee-Token's second form: a signature of the time, not the body.
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
