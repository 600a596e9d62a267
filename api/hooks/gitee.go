package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

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
