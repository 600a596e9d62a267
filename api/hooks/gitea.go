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
	p, err := readPush(payload)
	if err != nil || p.Ref == "" && event != "" && event != "push" {
		return nil, err
	}
	return p.notification(p.Repository.FullName)
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
