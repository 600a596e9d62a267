package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"hash"
	"net/http"
	"slices"
	"strings"
	"time"
)

// wrongSecret is the answer to a caller who does not know the secret.
const wrongSecret = "The signature or token is wrong or missing."

type call struct {
	header  http.Header
	body    []byte // as it was sent, which is what signatures sign
	now     time.Time
	service *service
	proven  map[string]bool // results of knows, by secret
}

// mayPull reports whether the call may pull a component: without a secret, or knowing it.
func (k *call) mayPull(c *Component) bool {
	if !c.Secured {
		return true
	}
	if c.Secret == "" {
		return false
	}
	ok, known := k.proven[c.Secret]
	if !known {
		ok = k.knows(c.Secret)
		k.proven[c.Secret] = ok
	}
	return ok
}

// signsBody reports whether the call has a signature of its body, true or not.
func (k *call) signsBody() bool {
	return slices.ContainsFunc(k.service.signatures, func(header string) bool { return k.header.Get(header) != "" })
}

// provenByHeader reports whether the headers alone prove one of the secrets. All are
// tried, so that the time is the same for all callers.
func (k *call) provenByHeader(branches []Branch) bool {
	proven := false
	for i := range branches {
		for _, secret := range branches[i].Secrets {
			proven = k.knows(secret) || proven
		}
	}
	return proven
}

// knows reports whether the caller proves a secret, by the service's method or by sending it as
// the token or password of an Authorization header. So a service that signs with a key of its
// own needs another setting for its public key: whoever knows that could send it as a token.
func (k *call) knows(secret string) bool {
	return k.service.signed != nil && k.service.signed(k, secret) || bearer(k.header, secret)
}

// bearer reports whether a secret is the token or the password of a header.
func bearer(h http.Header, secret string) bool {
	scheme, value, _ := strings.Cut(strings.TrimSpace(h.Get("Authorization")), " ")
	value = strings.TrimSpace(value)
	switch {
	case strings.EqualFold(scheme, "Bearer"), strings.EqualFold(scheme, "Token"):
		return same(value, secret)
	}
	_, password, ok := (&http.Request{Header: h}).BasicAuth()
	return ok && same(password, secret)
}

// same compares in a time that does not depend on the texts or their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// signedHex makes the rule of services that send an HMAC of the body: a prefix and hex digits.
func signedHex(header, prefix string, newHash func() hash.Hash) func(k *call, secret string) bool {
	return func(k *call, secret string) bool {
		text, ok := strings.CutPrefix(k.header.Get(header), prefix)
		given, err := hex.DecodeString(text)
		return ok && err == nil && len(given) > 0 && hmac.Equal(given, mac(newHash, secret, k.body))
	}
}

func mac(newHash func() hash.Hash, secret string, text []byte) []byte {
	m := hmac.New(newHash, []byte(secret))
	m.Write(text)
	return m.Sum(nil)
}

// anyOf makes the rule of a service with several methods.
func anyOf(rules ...func(*call, string) bool) func(*call, string) bool {
	return func(k *call, secret string) bool {
		return slices.ContainsFunc(rules, func(rule func(*call, string) bool) bool { return rule(k, secret) })
	}
}

const hubHeader = "X-Hub-Signature-256"

// hubSignature checks GitHub's signature, which Gitea and Forgejo send, too.
var hubSignature = signedHex(hubHeader, "sha256=", sha256.New)

// tokenIn makes the rule of a service that sends the secret itself.
func tokenIn(header string) func(*call, string) bool {
	return func(k *call, secret string) bool {
		given := k.header.Get(header)
		return given != "" && same(given, secret)
	}
}
