package hooks

import (
	"net/http"
	"testing"
	"time"
)

// TestSignatures checks what each service sends as a proof. The first one is the
// example of GitHub's manual; the others were made with openssl dgst -hmac.
func TestSignatures(t *testing.T) {
	t.Parallel()
	const (
		secret = "It's a Secret to Everybody"
		body   = "Hello, World!"
		sum256 = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
		sum1   = "01dc10d0c83e72ed246219cdd91669667fe2ca59"
		millis = "1767323045000" // 2026-01-02T03:04:05Z
		gitee  = "eOwnJgbvU+T81h53eWcp1T5Z31ThCyfRzxoTepR0Cao="
		escape = "eOwnJgbvU%2BT81h53eWcp1T5Z31ThCyfRzxoTepR0Cao%3D"
	)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	proven := map[string]bool{}
	type headers map[string]string
	for _, tt := range []struct {
		service string
		headers headers
		want    bool
	}{
		{"github", headers{"X-Hub-Signature-256": "sha256=" + sum256}, true},
		{"github", headers{"X-Hub-Signature-256": sum256}, false},
		{"github", headers{"X-Hub-Signature-256": "sha256="}, false},
		{"github", headers{"X-Hub-Signature-256": "sha256=" + sum256[2:]}, false},
		{"github", headers{"X-Hub-Signature-256": "sha256=0" + sum256[1:]}, false},
		{"github", headers{"X-Hub-Signature": "sha1=" + sum1}, false},
		{"github", headers{"X-Gitlab-Token": secret}, false},
		{"gitlab", headers{"X-Gitlab-Token": secret}, true},
		{"gitlab", headers{"X-Gitlab-Token": secret + "x"}, false},
		{"gitlab", headers{"X-Gitlab-Token": ""}, false},
		{"gitea", headers{"X-Gitea-Signature": sum256}, true},
		{"gitea", headers{"X-Hub-Signature-256": "sha256=" + sum256}, true},
		{"gitea", headers{"X-Gitea-Signature": sum1}, false},
		{"forgejo", headers{"X-Forgejo-Signature": sum256}, true},
		{"forgejo", headers{"X-Gitea-Signature": sum256}, true},
		{"forgejo", headers{"X-Forgejo-Signature": "x"}, false},
		{"bitbucket", headers{"X-Hub-Signature": "sha256=" + sum256}, true},
		{"bitbucket", headers{"X-Hub-Signature": "sha1=" + sum1}, false},
		{"azure", headers{"Authorization": "Basic aG9vazpJdCdzIGEgU2VjcmV0IHRvIEV2ZXJ5Ym9keQ=="}, true},
		{"azure", headers{"Authorization": "Basic SXQncyBhIFNlY3JldCB0byBFdmVyeWJvZHk="}, false},
		{"azure", headers{"Authorization": "Basic *"}, false},
		{"azure", headers{"Authorization": "Bearer " + secret}, true},
		{"azure", headers{"Authorization": "Token " + secret}, true},
		{"azure", headers{"Authorization": "Digest " + secret}, false},
		{"azure", headers{"Authorization": "Bearer"}, false},
		{"pagure", headers{"X-Pagure-Signature-256": sum256}, true},
		{"pagure", headers{"X-Pagure-Signature": sum1}, true},
		{"pagure", headers{"X-Pagure-Signature": sum256}, false},
		{"gitee", headers{"X-Gitee-Token": secret}, true},
		{"gitee", headers{"X-Gitee-Token": gitee, "X-Gitee-Timestamp": millis}, true},
		{"gitee", headers{"X-Gitee-Token": gitee}, false},
		{"gitee", headers{"X-Gitee-Token": escape, "X-Gitee-Timestamp": millis}, true},
		{"gitee", headers{"X-Gitee-Token": gitee, "X-Gitee-Timestamp": "1767323045001"}, false},
	} {
		k := &call{header: http.Header{}, body: []byte(body), now: now}
		for key, value := range tt.headers {
			k.header.Set(key, value)
		}
		k.service = serviceNamed(tt.service)
		if early := (&call{header: k.header, now: now, service: k.service}); tt.want && !early.knows(secret) && !early.signsBody() {
			t.Errorf("%s %v: refused before its body is read", tt.service, tt.headers)
		}
		proven[tt.service] = proven[tt.service] || tt.want
		if got := k.knows(secret); got != tt.want {
			t.Errorf("%s %v: %v, want %v", tt.service, tt.headers, got, tt.want)
		}
		if k.now = now.Add(giteeSkew + time.Second); tt.headers["X-Gitee-Timestamp"] != "" && k.knows(secret) {
			t.Errorf("%s %v is taken too late", tt.service, tt.headers)
		}
		if k.knows("another") {
			t.Errorf("%s %v is taken for another secret", tt.service, tt.headers)
		}
	}
	for _, name := range Services() {
		if !proven[name] {
			t.Errorf("no proof of %s is tested", name)
		}
	}
}

// TestStandardSignature is the example of the Standard Webhooks libraries.
func TestStandardSignature(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	k := &call{
		header:  http.Header{"Webhook-Id": {"msg_p5jXN8AQM9LWM0D4loKWxJek"}, "Webhook-Timestamp": {"1614265330"}, "Webhook-Signature": {"v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}},
		body:    []byte(`{"test": 2432232314}`),
		now:     time.Unix(1614265330, 0).Add(standardSkew),
		service: &gitlab,
	}
	if !k.knows(secret) {
		t.Error("a good signature is refused")
	}
	for what, spoil := range map[string]func(*call){
		"late":    func(k *call) { k.now = k.now.Add(time.Second) },
		"early":   func(k *call) { k.now = k.now.Add(-time.Hour) },
		"body":    func(k *call) { k.body = []byte("{}") },
		"no id":   func(k *call) { k.header.Del("Webhook-Id") },
		"version": func(k *call) { k.header.Set("Webhook-Signature", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=") },
	} {
		bad := *k
		bad.header = k.header.Clone()
		if spoil(&bad); bad.knows(secret) {
			t.Errorf("%s: a bad signature is taken", what)
		}
	}
	if k.knows("whsec_*") || k.knows("whsec_") {
		t.Error("a secret that is no key is taken")
	}
}
