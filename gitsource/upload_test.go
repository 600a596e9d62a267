package gitsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// wholeUpload asks for the history of a head in version 0.
func wholeUpload(h object.Hash) Upload {
	want := fmt.Sprintf("want %s\n", h)
	return Upload{Request: fmt.Appendf(nil, "%04x%s00000009done\n", len(want)+4, want)}
}

// onFirst calls itself at its first write only.
type onFirst struct {
	got   bytes.Buffer // not embedded, since that would add ReadFrom
	first func() error
}

// Write calls first before it takes anything.
func (o *onFirst) Write(p []byte) (int, error) {
	if fn := o.first; fn != nil {
		o.first = nil
		if err := fn(); err != nil {
			return 0, err
		}
	}
	return o.got.Write(p)
}

// TestUploadWhileRebuilt replaces a mirror in the middle of an answer: the answer is
// complete, and the old git directory is removed after it.
func TestUploadWhileRebuilt(t *testing.T) {
	gittest.NeedGit(t)
	_, head, m := mirrored(t, files{"po/de.po": "1"}, Options{})
	fetch(t, m)
	old, _ := m.Path()
	w := &onFirst{first: func() error {
		_, err := m.Rebuild(t.Context())
		return err
	}}
	gittest.Must(t, m.UploadPack(t.Context(), wholeUpload(head), w))
	if !bytes.HasPrefix(w.got.Bytes(), []byte("0008NAK\nPACK")) {
		t.Errorf("answer %.20q", w.got.Bytes())
	}
	if now, _ := m.Path(); now == old {
		t.Error("the mirror was not replaced")
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old repository is still there: %v", err)
	}
}

// TestUploadAborted ends with its client.
func TestUploadAborted(t *testing.T) {
	gone := errors.New("the client has gone")
	gittest.NeedGit(t)
	_, head, m := mirrored(t, files{"po/de.po": "1"}, Options{})
	if err := m.UploadPack(t.Context(), Upload{}, &bytes.Buffer{}); !errors.Is(err, ErrNotFetched) {
		t.Errorf("before the first fetch: %v", err)
	}
	fetch(t, m)
	if err := m.UploadPack(t.Context(), wholeUpload(head), &onFirst{first: func() error { return gone }}); err == nil {
		t.Errorf("a client that takes nothing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.UploadPack(ctx, wholeUpload(head), &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that left: %v", err)
	}
	if err := m.UploadPack(t.Context(), wholeUpload(head), &bytes.Buffer{}); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// FuzzParseUpload finds every line that names an object, and leaves all lines in
// place if every object is known.
func FuzzParseUpload(f *testing.F) {
	f.Add(wholeUpload(object.Hash{1}).Request)
	f.Add(wholeUploadIn(2, object.Hash{1}).Request)
	f.Add([]byte("0009done\n0000"))
	nothing := bytes.Repeat([]byte("0032have "+object.Hash{}.String()+"\n"), 2)
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := parseUpload(data)
		if err != nil && !errors.Is(err, ErrBadRequest) {
			t.Error(err)
		}
		if err == nil {
			known := map[object.Hash]bool{}
			for _, h := range u.has {
				known[h] = true
			}
			if got := u.knowing(known); !bytes.Equal(got, data) {
				t.Errorf("with all objects known: %q of %q", got, data)
			}
		}
		line := fmt.Sprintf("0032want %s\n0032have %s\n0032have %X\n", object.Hash{2}, object.Hash{3}, object.Hash{0xab})
		u, err = parseUpload(append([]byte(line), data...))
		if err == nil && (!slices.Contains(u.wants, object.Hash{2}) || !bytes.HasPrefix(u.knowing(nil)[50:], nothing)) {
			t.Errorf("what is wanted: %v; known: %q", u.wants, u.knowing(nil))
		}
	})
}

// TestUploadHidden: a client that knows the id of an object outside the branch's
// history does not get it, though the mirror has it: a commit from before a force
// push, its files, a commit of another branch. A commit in the history is given, also
// if it is no head.
func TestUploadHidden(t *testing.T) {
	gittest.NeedGit(t)
	for version := range 3 {
		u := newUpstream(t)
		first := u.Commit("A", files{"po/de.po": "1"})
		left := u.Push("B", files{"po/de.po": "secret"}, first)
		m := openMirror(t, remote.Repository{URL: u.Dir}, Options{})
		fetch(t, m)
		head := u.Push("C", files{"po/de.po": "2"}, first)
		fetch(t, m)
		r, err := m.Reader(t.Context())
		gittest.Must(t, err)
		n, err := r.store.Node(left)
		gittest.Must(t, err)
		blob := plumbing.ComputeHash(plumbing.BlobObject, []byte("secret"))
		if !r.Has(left) || !r.Has(object.Hash(blob)) {
			t.Fatal("the mirror lacks the objects to hide")
		}
		gittest.Must(t, r.Close())
		for _, tt := range []struct {
			name string
			want object.Hash
			ok   bool
		}{
			{"head", head, true},
			{"ancestor", first, true},
			{"before a force push", left, false},
			{"its tree", n.Tree, false},
			{"its file", object.Hash(blob), false},
			{"unknown", object.Hash{7}, false},
		} {
			var out bytes.Buffer
			if err := m.UploadPack(t.Context(), wholeUploadIn(version, tt.want), &out); err != nil {
				t.Errorf("version %d, %s: %v", version, tt.name, err)
			}
			pack, refused := bytes.Contains(out.Bytes(), []byte("PACK")), strings.Contains(out.String(), "ERR upload-pack: not our ref "+tt.want.String())
			if pack != tt.ok || refused == tt.ok {
				t.Errorf("version %d, %s: %.80q", version, tt.name, out.String())
			}
		}
	}
}

// TestUploadTellsNothing: an answer does not depend on objects outside the branch's
// history: a client that says it has one gets the answer of a client that names an
// unknown one, and commands that look objects or hidden refs up are refused.
func TestUploadTellsNothing(t *testing.T) {
	gittest.NeedGit(t)
	u := newUpstream(t)
	first := u.Commit("A", files{"po/de.po": "1"})
	left := u.Push("B", files{"po/de.po": "secret"}, first)
	m := openMirror(t, remote.Repository{URL: u.Dir}, Options{})
	fetch(t, m)
	head := u.Push("C", files{"po/de.po": "2"}, first)
	fetch(t, m)
	ask := func(version int, lines ...string) (string, error) {
		t.Helper()
		var b, out bytes.Buffer
		if version == 2 {
			b.WriteString("0012command=fetch\n0001000fno-progress")
		}
		flushed := version == 2
		for _, l := range lines {
			if !flushed && strings.HasPrefix(l, "have") {
				b.WriteString("0000")
				flushed = true
			}
			fmt.Fprintf(&b, "%04x%s\n", len(l)+5, l)
		}
		if !flushed || version == 2 {
			b.WriteString("0000")
		}
		if version < 2 {
			b.WriteString("0009done\n")
		}
		err := m.UploadPack(t.Context(), Upload{Request: b.Bytes(), Version: version}, &out)
		if version == 2 && err == nil {
			return withoutBands(t, out.Bytes()), nil
		}
		return out.String(), err
	}
	want := "want " + head.String()
	complement := left
	for i := range complement {
		complement[i] = ^complement[i]
	}
	for version := range 3 {
		for _, word := range []string{"have ", "shallow "} {
			unknown, err := ask(version, want, word+object.Hash{9}.String())
			gittest.Must(t, err)
			for _, id := range []string{left.String(), strings.ToUpper(left.String()), complement.String()} {
				hidden, err := ask(version, want, word+id)
				gittest.Must(t, err)
				if hidden != unknown || strings.Contains(hidden, "ACK") && !strings.Contains(unknown, "ACK") {
					t.Errorf("version %d, %s: %.80q for a hidden commit, %.80q for an unknown one", version, word+id, hidden, unknown)
				}
			}
		}
	}
	if got, err := ask(2, want, "have "+first.String()); err != nil || !strings.Contains(got, "ACK "+first.String()) {
		t.Errorf("a commit of the branch: %.80q, %v", got, err)
	}
	for _, request := range []string{
		"0015command=object-info0001" + "0032oid " + left.String() + "\n0000",
		fmt.Sprintf("0012command=fetch\n0001%04x%s\n001cdeepen-not refs/heads/x\n0000", len(want)+5, want),
	} {
		var out bytes.Buffer
		if err := m.UploadPack(t.Context(), Upload{Request: []byte(request), Version: 2}, &out); !errors.Is(err, ErrBadRequest) || out.Len() > 0 {
			t.Errorf("%.40q: %v %.60q", request, err, out.String())
		}
	}
}

// withoutBands joins the lines of an answer: how git cuts a pack into them depends on
// the time.
func withoutBands(t *testing.T, data []byte) string {
	t.Helper()
	var b strings.Builder
	for len(data) > 0 {
		line, rest, err := packetLine(data)
		gittest.Must(t, err)
		if raw := data[:len(data)-len(rest)]; len(raw) > 4 && raw[4] == 1 {
			b.Write(raw[5:])
		} else if len(raw) > 4 && raw[4] != 2 {
			b.WriteString(line + "\n")
		}
		data = rest
	}
	return b.String()
}

// wholeUploadIn asks for the history of a commit in a version of the protocol.
func wholeUploadIn(version int, h object.Hash) Upload {
	u := wholeUpload(h)
	if u.Version = version; version == 2 {
		want := fmt.Sprintf("want %s\n", h)
		u.Request = fmt.Appendf(nil, "0011command=fetch0001%04x%s0009done\n0000", len(want)+4, want)
	}
	return u
}

// TestUploadRefused: a body that is not a request is ErrBadRequest.
func TestUploadRefused(t *testing.T) {
	gittest.NeedGit(t)
	_, head, m := mirrored(t, files{"po/de.po": "1"}, Options{})
	fetch(t, m)
	many := ""
	for i := range maxWants + 1 {
		many += fmt.Sprintf("0032want %s\n", object.Hash{byte(i)})
	}
	for _, request := range []string{
		"", "x", "no pkt-line", "0003", "ffff", "0009want ", "0032want " + strings.Repeat("x", 40) + "\n", "0033want " + head.String() + "x\n", "0032want " + head.String()[:30], many + "00000009done\n",
		"0012command=fetch\n0001" + "000bwant x\n0000", "000cnonsense0000",
	} {
		var out bytes.Buffer
		err := m.UploadPack(t.Context(), Upload{Request: []byte(request), Version: 2}, &out)
		if !errors.Is(err, ErrBadRequest) || out.Len() > 0 {
			t.Errorf("%.60q: %v %.40q", request, err, out.String())
		}
	}
}

// TestUploadWithoutGit: where the git program may not be used, nothing is served
// and nothing is written.
func TestUploadWithoutGit(t *testing.T) {
	for name, o := range map[string]remote.Options{"builtin": {Transport: "builtin"}, "no git": {GitBinary: filepath.Join(t.TempDir(), "git")}} {
		_, head, m := mirrored(t, files{"po/de.po": "1"}, Options{Remote: o})
		fetch(t, m)
		for _, request := range []Upload{{}, wholeUpload(head)} {
			var out bytes.Buffer
			if err := m.UploadPack(t.Context(), request, &out); !errors.Is(err, ErrNoGit) || out.Len() > 0 {
				t.Errorf("%s: %v, %q", name, err, out.String())
			}
		}
	}
}
