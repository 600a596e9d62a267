package hooks

import (
	"crypto/sha256"
	"net/http"
)

var forgejo = service{
	name: "forgejo", title: "Forgejo", read: readForgejo,
	signed: anyOf(signedHex("X-Forgejo-Signature", "", sha256.New), gitea.signed),
}

// readForgejo reads https://forgejo.org/docs/latest/user/webhooks/
func readForgejo(h http.Header, payload []byte) (*notification, error) {
	return readGogs(first(usable([]string{h.Get("X-Forgejo-Event"), h.Get("X-Gitea-Event")})), payload)
}
