//go:build unix

package remote

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// foreign makes a repository of another user; the test needs root for that.
func foreign(t *testing.T, u *upstream) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	gittest.Must(t, filepath.Walk(u.Dir, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 65534, 65534)
	}))
}

// TestOwner: a repository of another user is read only if it is listed.
func TestOwner(t *testing.T) {
	u := newUpstream(t)
	head := u.Push("A", files{"po/de.po": "1"})
	foreign(t, u)
	folder := filepath.Dir(u.Dir)
	for _, tt := range []struct {
		safe []string
		ok   bool
	}{
		{nil, false},
		{[]string{folder}, false}, // not the repository
		{[]string{"/srv/git/*", folder + "-other/*"}, false},
		{[]string{u.Dir}, true},
		{[]string{folder + "/*"}, true},
		{[]string{"/srv/git", "*"}, true},
	} {
		got, err := NewSource(Repository{URL: u.Dir}, Options{Trust: Trust{SafeDirectories: tt.safe}}).Tip(t.Context())
		if ok := err == nil && got.Hash == head; ok != tt.ok {
			t.Errorf("safe directories %q: %v, %v", tt.safe, got, err)
		}
		if !tt.ok && (!errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "user id 65534) (run repoglot as its owner, or add its path to safe_directories)")) {
			t.Errorf("safe directories %q: %v", tt.safe, err)
		}
	}
	if _, err := NewSource(Repository{URL: u.Dir}, Options{Transport: transportBinary}).Tip(t.Context()); err == nil || !strings.Contains(err.Error(), "safe_directories") {
		t.Errorf("with the git program: %v", err)
	}
	w, err := NewWatcher(WatchOptions{})
	gittest.Must(t, err)
	defer w.Close()
	if err := w.Add(u.Dir, "x"); !errors.Is(err, ErrUnreachable) {
		t.Errorf("watch: %v", err)
	}
}

// TestForeignRepositoryLeads: one of another user that is listed leads nowhere else:
// neither to files and repositories of this user nor into the data of the server.
func TestForeignRepositoryLeads(t *testing.T) {
	secret := newUpstream(t)
	secret.Push("A", files{"po/de.po": "secret"})
	data := t.TempDir()
	for name, lead := range map[string]func(t *testing.T, dir string){
		"alternates": func(t *testing.T, dir string) {
			gittest.Must(t, os.MkdirAll(filepath.Join(dir, "objects", "info"), 0o755))
			gittest.Must(t, os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(filepath.Join(secret.Dir, "objects")+"\n"), 0o644))
		},
		"commondir": func(t *testing.T, dir string) {
			gittest.Must(t, os.WriteFile(filepath.Join(dir, "commondir"), []byte(secret.Dir+"\n"), 0o644))
		},
		"objects": func(t *testing.T, dir string) {
			gittest.Must(t, os.RemoveAll(filepath.Join(dir, "objects")))
			gittest.Must(t, os.Symlink(filepath.Join(secret.Dir, "objects"), filepath.Join(dir, "objects")))
		},
		"refs": func(t *testing.T, dir string) {
			gittest.Must(t, os.RemoveAll(filepath.Join(dir, "refs")))
			gittest.Must(t, os.Symlink(filepath.Join(secret.Dir, "refs"), filepath.Join(dir, "refs")))
		},
		".git": func(t *testing.T, dir string) {
			gittest.Must(t, os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: "+secret.Dir+"\n"), 0o644))
		},
		".git as a symlink": func(t *testing.T, dir string) {
			gittest.Must(t, os.Symlink(secret.Dir, filepath.Join(dir, ".git")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			u.Push("A", files{"po/de.po": "1"})
			lead(t, u.Dir)
			for _, private := range []string{data, filepath.Dir(secret.Dir)} {
				if private == data {
					if os.Geteuid() != 0 {
						continue
					}
					foreign(t, u)
				} else {
					gittest.Must(t, filepath.Walk(u.Dir, func(path string, _ os.FileInfo, _ error) error { return os.Lchown(path, os.Getuid(), os.Getgid()) }))
				}
				source := NewSource(Repository{URL: u.Dir}, Options{Trust: Trust{SafeDirectories: []string{u.Dir}, PrivateDir: private}})
				got, err := source.Tip(t.Context())
				if err == nil || !strings.Contains(err.Error(), "leads to another place") {
					t.Errorf("private %v: %v, %v", private != data, got, err)
				}
			}
		})
	}
	if _, err := NewSource(Repository{URL: secret.Dir}, Options{Trust: Trust{PrivateDir: filepath.Dir(secret.Dir)}}).Tip(t.Context()); err == nil {
		t.Error("a repository in the data of the server is read")
	}
}

// TestHostileFiles: refs that are symlinks to other files, pipes and devices are
// refused at once, and nothing of a file that is no ref is in an error.
func TestHostileFiles(t *testing.T) {
	netrc := filepath.Join(t.TempDir(), "netrc")
	gittest.Must(t, os.WriteFile(netrc, []byte("machine example.org password hunter2"), 0o600))
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"branch":        func(t *testing.T, dir string) { replace(t, filepath.Join(dir, "refs", "heads", "main"), netrc) },
		"HEAD":          func(t *testing.T, dir string) { replace(t, filepath.Join(dir, "HEAD"), netrc) },
		"environment":   func(t *testing.T, dir string) { replace(t, filepath.Join(dir, "HEAD"), "/proc/self/environ") },
		"pipe":          func(t *testing.T, dir string) { pipe(t, filepath.Join(dir, "HEAD")) },
		"pipe of refs":  func(t *testing.T, dir string) { pipe(t, filepath.Join(dir, "refs", "heads", "main")) },
		"pipe of packs": func(t *testing.T, dir string) { pipe(t, filepath.Join(dir, "objects", "pack")) },
		"pipe of loose": func(t *testing.T, dir string) {
			gittest.Must(t, os.RemoveAll(filepath.Join(dir, "objects")))
			gittest.Must(t, os.Mkdir(filepath.Join(dir, "objects"), 0o755))
			pipe(t, filepath.Join(dir, "objects", "ab"))
		},
		"text": func(t *testing.T, dir string) {
			gittest.Must(t, os.WriteFile(filepath.Join(dir, "refs", "heads", "main"), []byte("password hunter2"), 0o644))
		},
		"shallow": func(t *testing.T, dir string) {
			f, err := os.Create(filepath.Join(dir, "shallow"))
			gittest.Must(t, err)
			gittest.Must(t, f.Truncate(800<<20))
			gittest.Must(t, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			u.Push("A", files{"po/de.po": "1"})
			spoil(t, u.Dir)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a hang fails
			defer cancel()
			source := NewSource(Repository{URL: u.Dir}, Options{})
			tip, err := source.Tip(ctx)
			if err == nil {
				to := filepath.Join(t.TempDir(), "to")
				gittest.Must(t, object.Init(to))
				err = source.Transfer(ctx, to, tip, nil)
			}
			if err == nil || ctx.Err() != nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "PATH=") {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func replace(t *testing.T, name, target string) {
	t.Helper()
	gittest.Must(t, os.RemoveAll(name))
	gittest.Must(t, os.Symlink(target, name))
}

func pipe(t *testing.T, name string) {
	t.Helper()
	gittest.Must(t, os.RemoveAll(name))
	gittest.Must(t, syscall.Mkfifo(name, 0o644))
}

// TestLinkedWorkTree: a work tree of one's own leads to its repository, and
// alternates of one's own are read.
func TestLinkedWorkTree(t *testing.T) {
	gittest.NeedGit(t)
	u := newUpstream(t)
	head := u.Push("A", files{"po/de.po": "1"})
	tree, clone := filepath.Join(t.TempDir(), "tree"), filepath.Join(t.TempDir(), "clone")
	for _, args := range [][]string{
		{"-C", u.Dir, "worktree", "add", "--quiet", "--detach", tree}, {"clone", "--quiet", "--shared", u.Dir, clone},
	} {
		out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, dir := range []string{tree, clone} {
		source := NewSource(Repository{URL: dir}, Options{Trust: Trust{PrivateDir: t.TempDir()}})
		to := filepath.Join(t.TempDir(), "to")
		gittest.Must(t, object.Init(to))
		tip, err := source.Tip(t.Context())
		gittest.Must(t, err)
		if err := source.Transfer(t.Context(), to, tip, nil); err != nil || tip.Hash != head {
			t.Errorf("%s: %v, %v", dir, tip, err)
		}
	}
}
