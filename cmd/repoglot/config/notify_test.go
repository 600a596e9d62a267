package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// TestNotify: what is refused of receivers of webhooks, and that no message has a secret.
func TestNotify(t *testing.T) {
	environ := []string{"S=whsec_MDEyMzQ1Njc4OWFiY2RlZg==", "SHORT=MDEy", "BAD=secret words"}
	for keys, want := range map[string]string{
		"url: https://h/hidden\n  secret_env: S": "",
		"url: http://h/hidden\n  allow_private: true\n  secret_env: S\n  events: [2, 'new translation', component_error, edit_conflict, request_opened]\n  batch: 60s": "",
		"secret_env: S":                                                                    `notify[0] has no url; add the key "url"`,
		"url: ftp://h/hidden\n  secret_env: S":                                             "notify[0].url is no address",
		"url: http://h/hidden\n  secret_env: S":                                            "notify[0].url is not https",
		"url: https://u:hidden@h/\n  secret_env: S":                                        "notify[0].url is no address",
		"url: https://h/hidden\n  secret_env: NONE":                                        "notify[0].secret_env names NONE, which is not set",
		"url: https://h/hidden\n  secret_env: SHORT":                                       "notify[0].secret_env names SHORT, which is no secret of 16 bytes",
		"url: https://h/hidden\n  secret_env: BAD":                                         "notify[0].secret_env names BAD, which is no secret of 16 bytes",
		"url: https://h/hidden\n  secret_env: S\n  events: [x]":                            `notify[0].events[0] "x" is no event`,
		"url: https://h/hidden\n  secret_env: S\n  projects: [x]":                          `notify[0].projects[0] "x" is none of the projects`,
		"url: https://h/hidden\n  secret_env: S\n  batch: 48h":                             "notify[0].batch must be from 0s to 24h",
		"url: https://h/hidden\n  secret_env: S\n- url: https://h/hidden\n  secret_env: S": "notify[1].url is that of an entry above",
	} {
		c, err := config.Parse("f", []byte("notify:\n- "+keys+"\n"), environ)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v", keys, err)
		case want != "" && strings.Contains(err.Error(), "hidden"):
			t.Errorf("%s: the error tells of the address: %v", keys, err)
		case want == "" && strings.Contains(keys, "60s") && c.Notify[0].Batch != time.Minute:
			t.Errorf("%+v", c.Notify)
		}
	}
}
