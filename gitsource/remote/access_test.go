package remote

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

func TestLookupNetrc(t *testing.T) {
	name := filepath.Join(t.TempDir(), "netrc")
	gittest.Must(t, os.WriteFile(name, []byte("# comment\nmachine a.example login u1 password p1\nmachine b.example\n\tlogin u2 account x password p2\n"+
		"macdef init\nmachine c.example login no password no\n\nmachine C.example login u3 # password no\ndefault login u4 password p4\n"), 0o600))
	for host, want := range map[string]Credential{
		"a.example": {Username: "u1", Password: "p1"}, "B.example": {Username: "u2", Password: "p2"},
		"c.example": {Username: "u3"}, "z.example": {Username: "u4", Password: "p4"},
	} {
		if got, ok := lookupNetrc(name, host); !ok || got != want {
			t.Errorf("%s: user %q, %v", host, got.Username, ok)
		}
	}
	if _, ok := lookupNetrc(filepath.Join(t.TempDir(), "absent"), "a"); ok {
		t.Error("found something in no file")
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	c := Credential{Host: "example.org", Username: "u", Password: "hunter2", SSHKey: "/k"}
	r := Repository{URL: "https://u:hunter2@example.org/a", Credential: &c}
	a := Credential{Username: "u", Password: "hunter2"}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "c", c, "p", &c, "r", r, "a", a)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "c", c, "p", &c, "r", r, "a", a)
	for _, v := range []any{c, &c, r, &r, a, &a, []any{c, r}} {
		fmt.Fprintf(&log, "%v %+v %#v %s\n", v, v, v, v)
	}
	if strings.Contains(log.String(), "hunter2") {
		t.Errorf("a secret was printed:\n%s", log.String())
	}
}

func TestRedactText(t *testing.T) {
	const url = "https://git.example.org/x.git"
	for _, c := range []struct {
		remote Repository
		access Credential
		text   string
		want   string
	}{
		{Repository{URL: url}, Credential{Username: "u", Password: "pw-secret"}, "fatal: Authentication failed for '" + url + "/'", "fatal: Authentication failed for '" + url + "/'"},
		{Repository{URL: url}, Credential{Username: "u", Password: "pw-secret"}, "bad pw-secret\nfor u@git.example.org", "bad ***; for git.example.org"},
		{Repository{URL: "https://u:pw%2Fx@git.example.org/x.git"}, Credential{}, "cannot open https://u:pw%2Fx@git.example.org/x.git, pw/x, pw%2Fx", "cannot open " + url + ", ***, ***"},
		{Repository{URL: "https://ghp_0123456789@git.example.org/x.git"}, Credential{}, "no ghp_0123456789", "no ***"},
		{Repository{URL: "https://ghp_0123456789abcdef:x-oauth-basic@git.example.org/x.git"}, Credential{}, "no ghp_0123456789abcdef", "no ***"},
		{Repository{URL: "ssh://production-deploy@git.example.org/x.git"}, Credential{Username: "production-deploy"}, "production-deploy: denied", "production-deploy: denied"},
		{Repository{URL: url + "?private_token=abc"}, Credential{}, "at " + url + "?private_token=abc: private_token=abc", "at " + url + ": ***"},
	} {
		if got := redactText(c.text, c.remote, c.access); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}
