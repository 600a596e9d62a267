package hooks

import (
	"crypto/sha1"
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
)

var pagure = service{
	name: "pagure", title: "Pagure", read: readPagure,
	signed:     anyOf(signedHex("X-Pagure-Signature-256", "", sha256.New), signedHex("X-Pagure-Signature", "", sha1.New)),
	signatures: []string{"X-Pagure-Signature-256", "X-Pagure-Signature"},
}

// readPagure reads https://docs.pagure.org/pagure/usage/using_webhooks.html:
// messages of fedmsg.
func readPagure(_ http.Header, payload []byte) (*notification, error) {
	var p struct {
		Topic string `json:"topic"`
		Msg   *struct {
			Instance string `json:"pagure_instance"`
			FullName string `json:"project_fullname"`
			Branch   string `json:"branch"`
		} `json:"msg"`
	}
	if err := decode(payload, &p); err != nil {
		return nil, err
	}
	switch {
	case p.Topic == "" && p.Msg == nil:
		return nil, errMissingField
	case p.Topic != "git.receive" || p.Msg == nil:
		return nil, nil
	case p.Msg.Instance == "" || p.Msg.FullName == "":
		return nil, errMissingField
	}
	at := strings.TrimRight(p.Msg.Instance, "/") + "/" + p.Msg.FullName
	n := &notification{
		fullName: p.Msg.FullName, repoURL: at,
		repos: []string{at, at + ".git"}, branches: []string{p.Msg.Branch},
	}
	if u, err := url.Parse(p.Msg.Instance); err == nil && u.Host != "" {
		ssh := "ssh://git@" + u.Host + "/" + p.Msg.FullName
		n.repos = append(n.repos, ssh, ssh+".git")
	}
	return n, nil
}
