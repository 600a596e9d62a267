package hooks

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Times that a signed time stamp may differ from our clock: what Gitee's manual
// says, and what the Standard Webhooks specification proposes.
const (
	giteeSkew    = time.Hour
	standardSkew = 5 * time.Minute
)

// wrongSecret is what those are told who do not know a secret.
const wrongSecret = "The signature or token is wrong or missing."

// call is what is known of one call.
type call struct {
	header  http.Header
	body    []byte // as it was sent: signatures are about that
	now     time.Time
	service *service
	proven  map[string]bool // by secret
}

// may reports whether the call may have a component pulled: it has no secret,
// or the call was made by somebody who knows it.
func (k *call) may(c *Component) bool {
	if !c.Secured {
		return true
	}
	if c.Secret == "" {
		return false
	}
	ok, known := k.proven[c.Secret]
	if !known {
		ok = k.knows(c.Secret)
		if k.proven == nil {
			k.proven = map[string]bool{}
		}
		k.proven[c.Secret] = ok
	}
	return ok
}

// knows reports whether the caller knows a secret: in the way of the service, or
// by sending it as the token or password of an Authorization header, which every
// service can be told to do.
func (k *call) knows(secret string) bool {
	return k.service.signed(k, secret) || bearer(k.header, secret)
}

// bearer reports whether a secret is the token or the password of a header.
func bearer(h http.Header, secret string) bool {
	scheme, value, _ := strings.Cut(strings.TrimSpace(h.Get("Authorization")), " ")
	value = strings.TrimSpace(value)
	switch {
	case strings.EqualFold(scheme, "Bearer"), strings.EqualFold(scheme, "Token"):
		return same(value, secret)
	case strings.EqualFold(scheme, "Basic"):
		pair, err := base64.StdEncoding.DecodeString(value)
		_, password, ok := strings.Cut(string(pair), ":")
		return err == nil && ok && same(password, secret)
	}
	return false
}

// same compares in a time that tells nothing, lengths included.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// signedHex makes the rule of services that send an HMAC of the body, in
// hexadecimal digits behind a prefix.
func signedHex(header, prefix string, newHash func() hash.Hash) func(k *call, secret string) bool {
	return func(k *call, secret string) bool {
		text, ok := strings.CutPrefix(k.header.Get(header), prefix)
		given, err := hex.DecodeString(text)
		return ok && err == nil && len(given) > 0 && hmac.Equal(given, mac(newHash, secret, k.body))
	}
}

func mac(newHash func() hash.Hash, secret string, parts ...[]byte) []byte {
	m := hmac.New(newHash, []byte(secret))
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)
}

// anyOf is the rule of a service with several ways.
func anyOf(rules ...func(*call, string) bool) func(*call, string) bool {
	return func(k *call, secret string) bool {
		for _, rule := range rules {
			if rule(k, secret) {
				return true
			}
		}
		return false
	}
}

// hub is X-Hub-Signature-256 of GitHub, which Gitea and Forgejo send as well.
func hub() func(*call, string) bool { return signedHex("X-Hub-Signature-256", "sha256=", sha256.New) }

// pagureSigned is Pagure's pair of headers.
func pagureSigned() func(*call, string) bool {
	return anyOf(signedHex("X-Pagure-Signature-256", "", sha256.New), signedHex("X-Pagure-Signature", "", sha1.New))
}

// tokenIn is the rule of a service that sends the secret itself.
func tokenIn(header string) func(*call, string) bool {
	return func(k *call, secret string) bool {
		given := k.header.Get(header)
		return given != "" && same(given, secret)
	}
}

// standardSigned is the signing token of GitLab: the Standard Webhooks
// specification. The key is what follows whsec_ in base64.
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

// giteeSigned is Gitee's X-Gitee-Token in its second form: a signature of the
// time, not of the body.
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
