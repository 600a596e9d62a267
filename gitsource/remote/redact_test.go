package remote

import (
	"testing"
)

func TestRedactText(t *testing.T) {
	const url = "https://git.example.org/x.git"
	for _, c := range []struct {
		remote Repository
		access access
		text   string
		want   string
	}{
		{Repository{URL: url}, access{user: "u", password: "pw-secret"}, "fatal: Authentication failed for '" + url + "/'", "fatal: Authentication failed for '" + url + "/'"},
		{Repository{URL: url}, access{user: "u", password: "pw-secret"}, "bad pw-secret\nfor u@git.example.org", "bad ***; for git.example.org"},
		{Repository{URL: "https://u:pw%2Fx@git.example.org/x.git"}, access{}, "cannot open https://u:pw%2Fx@git.example.org/x.git, pw/x, pw%2Fx", "cannot open " + url + ", ***, ***"},
		{Repository{URL: "https://ghp_0123456789@git.example.org/x.git"}, access{}, "no ghp_0123456789", "no ***"},
		{Repository{URL: "https://ghp_0123456789abcdef:x-oauth-basic@git.example.org/x.git"}, access{}, "no ghp_0123456789abcdef", "no ***"},
		{Repository{URL: "ssh://production-deploy@git.example.org/x.git"}, access{user: "production-deploy"}, "production-deploy: denied", "production-deploy: denied"},
		{Repository{URL: url + "?private_token=abc"}, access{}, "at " + url + "?private_token=abc: private_token=abc", "at " + url + ": ***"},
	} {
		if got := redactText(c.text, c.remote, c.access); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}
