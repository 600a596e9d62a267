package gitexport_test

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's name of an object
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/gitsource"
)

// interrupted calls a function before a round, or within one after its first
// bytes.
type interrupted struct {
	gitexport.Mirror
	round  int // counted from 1
	within bool
	call   func()
	rounds *atomic.Int32
}

func (m interrupted) UploadPack(ctx context.Context, u gitsource.Upload, w io.Writer) error {
	if int(m.rounds.Add(1)) == m.round {
		if !m.within {
			m.call()
		} else {
			w = &firstWrite{Writer: w, call: m.call}
		}
	}
	return m.Mirror.UploadPack(ctx, u, w)
}

type firstWrite struct {
	io.Writer
	call func()
}

func (w *firstWrite) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.call != nil {
		w.call()
		w.call = nil
	}
	return n, err
}

// TestRepack: during a clone, in every round and between rounds, the mirror moves
// forward and is packed again in another folder. The clone is whole and has at least
// the commits of its start; the old folder is removed after its last reader.
func TestRepack(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		protocol string
		rounds   int
	}{{"0", 2}, {"2", 3}} {
		for round := 1; round <= tc.rounds; round++ {
			for _, within := range []bool{false, true} {
				t.Run(fmt.Sprint(tc.protocol, "round", round, within), func(t *testing.T) {
					t.Parallel()
					cloneWhileRepacked(t, tc.protocol, round, within)
				})
			}
		}
	}
}

func cloneWhileRepacked(t *testing.T, protocol string, round int, within bool) {
	work, _, m := start(t)
	must(t, os.WriteFile(filepath.Join(work, "large.po"), noise(1<<20), 0o600))
	mustGit(t, work, "add", "large.po")
	commit(t, work, "large")
	pull(t, m)
	before, there := m.Path()
	if !there {
		t.Fatal("the mirror has no folder")
	}
	i := interrupted{Mirror: m, round: round, within: within, rounds: &atomic.Int32{}}
	i.call = func() {
		crowd(t, before)
		commit(t, work, "meanwhile")
		pull(t, m)
		if after, _ := m.Path(); after == before {
			t.Errorf("not packed again: %s", after)
		}
	}
	ts := httptest.NewServer(gitexport.New(only(i), connection, nil))
	defer ts.Close()
	clone := filepath.Join(t.TempDir(), "clone")
	mustGit(t, work, "-c", "protocol.version="+protocol, "clone", "-q", ts.URL+"/git/p/c/", clone)
	mustGit(t, clone, "fsck", "--strict")
	if got := mustGit(t, clone, "log", "--format=%s"); strings.TrimPrefix(got, "meanwhile\n") != "large\ntwo\none" {
		t.Errorf("history of the clone: %q", got)
	}
	if int(i.rounds.Load()) < round {
		t.Errorf("the clone took %d rounds only", i.rounds.Load())
	}
	ts.Close() // waits for the answers in progress
	if _, err := os.Stat(before); !os.IsNotExist(err) {
		t.Errorf("the old folder is still there: %v", err)
	}
	mustGit(t, clone, "pull", "-q", work, "main")
	if got := mustGit(t, clone, "log", "--format=%s"); got != "meanwhile\nlarge\ntwo\none" {
		t.Errorf("history after a fetch: %q", got)
	}
}

// noise is n bytes that do not compress, the same every time.
func noise(n int) []byte {
	data := make([]byte, n)
	x := uint64(88172645463325252)
	for i := range data {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		data[i] = byte(x)
	}
	return data
}

// crowd writes so many loose objects into a repository that the next fetch packs
// it again, all in the folder that is taken as a sample.
func crowd(t *testing.T, gitDir string) {
	t.Helper()
	var names strings.Builder
	dir := t.TempDir()
	for i, found := 0, 0; found < 40; i++ {
		text := fmt.Sprint(i)
		if sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)); sum[0] != 0x17 { //nolint:gosec // git's name of an object
			continue
		}
		found++
		name := filepath.Join(dir, text)
		must(t, os.WriteFile(name, []byte(text), 0o600))
		names.WriteString(name + "\n")
	}
	cmd := exec.CommandContext(t.Context(), "git", "--git-dir", gitDir, "hash-object", "-w", "--stdin-paths", "--no-filters")
	cmd.Stdin = strings.NewReader(names.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
