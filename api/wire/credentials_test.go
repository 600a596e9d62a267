package wire

import "testing"

// TestCredentials is decision 28 at its last door.
func TestCredentials(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://example.org/a.git":                      "https://example.org/a.git",
		"https://user:pa55@example.org/a.git":            "https://example.org/a.git",
		"https://pa55@example.org/a.git":                 "https://example.org/a.git",
		"https://user:p@ss@example.org/a@b.git":          "https://example.org/a@b.git",
		"https://user:pa55@example.org":                  "https://example.org",
		"https://user:pa55@example.org?x=1":              "https://example.org",
		"HTTPS://user:pa55@example.org:8443/a.git":       "HTTPS://example.org:8443/a.git",
		"https://example.org/a.git?private_token=secret": "https://example.org/a.git",
		"ssh://git@example.org/a.git":                    "ssh://git@example.org/a.git",
		"ssh://git:pa55@example.org:22/a.git":            "ssh://git@example.org:22/a.git",
		"ssh://:pa55@example.org/a.git":                  "ssh://example.org/a.git",
		"git@example.org:a/b.git":                        "git@example.org:a/b.git",
		"file:///srv/git/a@b.git":                        "file:///srv/git/a@b.git",
		"/srv/git/a.git":                                 "/srv/git/a.git",
		"../a.git":                                       "../a.git",
		"":                                               "",
	} {
		if got := WithoutCredentials(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
