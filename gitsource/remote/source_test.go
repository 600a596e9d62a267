package remote

import (
	"fmt"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestClients: with git installed, go-git has the remotes that git cannot be bounded on, or
// would show a secret of; without it, all.
func TestClients(t *testing.T) {
	gittest.NeedGit(t)
	for _, c := range []struct{ address, with, without string }{
		{"/srv/up.git", "*remote.localSource", "*remote.localSource"},
		{"https://example.org/up.git", "*remote.binarySource", "*remote.wireSource"},
		{"http://example.org/up.git", "*remote.binarySource", "*remote.wireSource"},
		{"https://example.org/up.git?token=x", "*remote.wireSource", "*remote.wireSource"},
		{"git://example.org/up.git", "*remote.wireSource", "*remote.wireSource"},
		{"ssh://git:passphrase@example.org/up.git", "*remote.wireSource", "*remote.wireSource"},
	} {
		r := Repository{URL: c.address}
		if with, without := fmt.Sprintf("%T", NewSource(r, Options{})), fmt.Sprintf("%T", NewSource(r, Options{GitBinary: "no-such-git"})); with != c.with || without != c.without {
			t.Errorf("%s: %s with git, %s without; want %s, %s", c.address, with, without, c.with, c.without)
		}
	}
	if with, without := (Options{}).Client(), (Options{Transport: transportBuiltin}).Client(); with == without || without != "go-git" {
		t.Errorf("%s and %s", with, without)
	}
}
