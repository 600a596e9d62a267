package remote

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

func TestMain(m *testing.M) { gittest.Main(m) }

type (
	files    = gittest.Files
	upstream = gittest.Upstream[object.Hash]
)

func newUpstream(tb testing.TB) *upstream {
	tb.Helper()
	return gittest.NewUpstream[object.Hash](tb)
}

func pattern(tb testing.TB, s string) BranchPattern {
	tb.Helper()
	p, err := ParseBranchPattern(s)
	gittest.Must(tb, err)
	return p
}

// TestEnvironment: programs that are run get no secret of this process, and the
// configuration of a repository in the folder that they run in does not count.
func TestEnvironment(t *testing.T) {
	gittest.NeedGit(t)
	u := newUpstream(t)
	head := u.Push("A", files{"po/de.po": "1"})
	temp := t.TempDir()
	for _, args := range [][]string{{"init", "--quiet", temp}, {"-C", temp, "config", "url./nowhere/.insteadOf", "/"}} {
		gittest.Must(t, exec.CommandContext(t.Context(), "git", args...).Run())
	}
	t.Setenv("TMPDIR", temp)
	t.Setenv("GIT_PASSWORD", "hunter2")
	t.Setenv("REPOGLOT_HOOK_SECRET", "hunter2")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	t.Setenv("HTTPS_PROXY", "http://proxy.example:1")
	env := strings.Join(environment(nil), "\n")
	if strings.Contains(env, "hunter2") || !strings.Contains(env, "HTTPS_PROXY=http://proxy.example:1\n") || !strings.Contains(env, "PATH=") {
		t.Errorf("environment of programs:\n%s", env)
	}
	source := NewSource(Repository{URL: "file://" + u.Dir}, Options{Transport: "binary"})
	if got, err := source.Tip(t.Context()); err != nil || got.Hash != head {
		t.Errorf("beside a repository that redirects: %v, %v", got, err)
	}
}

func TestParseLsRemote(t *testing.T) {
	id := strings.Repeat("ab", 20)
	h, _ := object.ParseHash(id)
	for _, c := range []struct {
		out, ref string
		want     object.Head
		fails    bool
	}{
		{"ref: refs/heads/main\tHEAD\n" + id + "\tHEAD\n", "HEAD", object.Head{Hash: h, Branch: "main"}, false},
		{id + "\tHEAD\n" + id + "\trefs/remotes/x/HEAD\n", "HEAD", object.Head{Hash: h, Branch: "HEAD"}, false},
		{id + "\trefs/heads/x/main\n", "refs/heads/main", object.Head{Branch: "main"}, false},
		{id + "\trefs/heads/main\n", "refs/heads/main", object.Head{Hash: h, Branch: "main"}, false},
		{"", "HEAD", object.Head{Branch: "HEAD"}, false},
		{"ref: refs/heads/../../x\tHEAD\n", "HEAD", object.Head{}, true},
		{"xyz\tHEAD\n", "HEAD", object.Head{}, true},
	} {
		got, err := parseLsRemote(c.out, c.ref)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%q: %+v, %v", c.out, got, err)
		}
	}
}

func FuzzParseLsRemote(f *testing.F) {
	f.Add("ref: refs/heads/x\tHEAD")
	f.Fuzz(func(_ *testing.T, out string) { _, _ = parseLsRemote(out, "HEAD") })
}

// TestCertificates: git takes the authorities of SSL_CERT_FILE and SSL_CERT_DIR, which its
// library does not read; it knows one folder only.
func TestCertificates(t *testing.T) {
	t.Setenv("SSL_CERT_FILE", "/ca.pem")
	s := &binarySource{client: client{remote: Repository{URL: "https://git.example.org/a.git"}}}
	for dir, want := range map[string]bool{"": false, "/ca": true, "/ca:/more": false} {
		t.Setenv("SSL_CERT_DIR", dir)
		env := strings.Join(s.environment(), "\n")
		if !strings.Contains(env, "=/ca.pem\n") || strings.Contains(env, "=http.sslCAPath\n") != want {
			t.Errorf("with %q:\n%s", dir, env)
		}
	}
}
