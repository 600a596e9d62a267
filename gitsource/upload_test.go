package gitsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// wholeUpload asks for the history of a head in version 0.
func wholeUpload(h Hash) Upload {
	want := fmt.Sprintf("want %s\n", h)
	return Upload{Request: fmt.Appendf(nil, "%04x%s00000009done\n", len(want)+4, want)}
}

// onFirst calls itself at its first write only.
type onFirst struct {
	got   bytes.Buffer // not embedded: nobody shall find its ReadFrom
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

// TestUploadWhileRebuilt clones a mirror anew in the middle of an answer: the
// answer is whole, and the old repository goes when it ends.
func TestUploadWhileRebuilt(t *testing.T) {
	for _, transport := range []string{transportAuto, transportBuiltin} {
		u := newUpstream(t)
		head := u.commit("A", files{"po/de.po": "1"})
		u.set("main", head)
		m := openMirror(t, Remote{URL: u.dir}, Options{Transport: transport})
		_, err := m.Fetch(t.Context())
		must(t, err)
		old, _ := m.Path()
		w := &onFirst{first: func() error {
			_, err := m.Rebuild(t.Context())
			return err
		}}
		if err := m.UploadPack(t.Context(), wholeUpload(head), w); err != nil {
			t.Fatalf("%s: %v", transport, err)
		}
		if !bytes.HasPrefix(w.got.Bytes(), []byte("0008NAK\nPACK")) {
			t.Errorf("%s: answer %.20q", transport, w.got.Bytes())
		}
		if now, _ := m.Path(); now == old {
			t.Errorf("%s: the mirror was not replaced", transport)
		}
		if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the old repository is still there: %v", transport, err)
		}
	}
}

// TestUploadAborted ends with its client.
func TestUploadAborted(t *testing.T) {
	gone := errors.New("the client has gone")
	for _, transport := range []string{transportAuto, transportBuiltin} {
		u := newUpstream(t)
		head := u.commit("A", files{"po/de.po": "1"})
		u.set("main", head)
		m := openMirror(t, Remote{URL: u.dir}, Options{Transport: transport})
		if err := m.UploadPack(t.Context(), Upload{}, &bytes.Buffer{}); !errors.Is(err, ErrNotFetched) {
			t.Errorf("%s: before the first fetch: %v", transport, err)
		}
		_, err := m.Fetch(t.Context())
		must(t, err)
		if err := m.UploadPack(t.Context(), wholeUpload(head), &onFirst{first: func() error { return gone }}); err == nil {
			t.Errorf("%s: a client that takes nothing: %v", transport, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := m.UploadPack(ctx, wholeUpload(head), &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a client that left: %v", transport, err)
		}
		if err := m.UploadPack(t.Context(), wholeUpload(head), &bytes.Buffer{}); err != nil {
			t.Errorf("%s: after that: %v", transport, err)
		}
	}
}

// FuzzParseUpload reads what a client posts: wherever a line asks for an object,
// it is found.
func FuzzParseUpload(f *testing.F) {
	f.Add(wholeUpload(Hash{1}).Request)
	f.Add(wholeUploadIn(2, Hash{1}).Request)
	f.Add([]byte("0009done\n0000"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := parseUpload(data); err != nil && !errors.Is(err, ErrUpload) {
			t.Error(err)
		}
		line := fmt.Sprintf("0032want %s\n", Hash{2})
		if q, err := parseUpload(append([]byte(line), data...)); err == nil && !slices.Contains(q.wants, Hash{2}) {
			t.Errorf("what is wanted: %v", q.wants)
		}
	})
}

// TestUploadHidden: what the history of the branch does not have is not given to
// who knows its id, though the mirror has it: a commit that a force push left
// behind, its files, those of another branch; what it has is, also if it is no
// head.
func TestUploadHidden(t *testing.T) {
	for _, transport := range []string{transportAuto, transportBuiltin} {
		for version := range 3 {
			if transport == transportBuiltin && version > 0 {
				break // it speaks version 0 alone
			}
			u := newUpstream(t)
			first := u.commit("A", files{"po/de.po": "1"})
			left := u.commit("B", files{"po/de.po": "secret"}, first)
			u.set("main", left)
			m := openMirror(t, Remote{URL: u.dir}, Options{Transport: transport})
			_, err := m.Fetch(t.Context())
			must(t, err)
			head := u.commit("C", files{"po/de.po": "2"}, first)
			u.set("main", head)
			_, err = m.Fetch(t.Context())
			must(t, err)
			r, err := m.Reader(t.Context())
			must(t, err)
			n, err := r.node(left)
			must(t, err)
			blob := plumbing.ComputeHash(plumbing.BlobObject, []byte("secret"))
			if !r.Has(left) || !r.Has(Hash(blob)) {
				t.Fatal("the mirror does not have what this is about")
			}
			must(t, r.Close())
			for _, tt := range []struct {
				name string
				want Hash
				ok   bool
			}{
				{"head", head, true},
				{"ancestor", first, true},
				{"left behind", left, false},
				{"its tree", n.tree, false},
				{"its file", Hash(blob), false},
				{"unknown", Hash{7}, false},
			} {
				var out bytes.Buffer
				if err := m.UploadPack(t.Context(), wholeUploadIn(version, tt.want), &out); err != nil {
					t.Errorf("%s version %d, %s: %v", transport, version, tt.name, err)
				}
				pack, refused := bytes.Contains(out.Bytes(), []byte("PACK")), strings.Contains(out.String(), "ERR upload-pack: not our ref "+tt.want.String())
				if pack != tt.ok || refused == tt.ok {
					t.Errorf("%s version %d, %s: %.80q", transport, version, tt.name, out.String())
				}
			}
		}
	}
}

// wholeUploadIn asks for the history of a commit in a version of the protocol.
// What repoglot answers itself is of version 0.
func wholeUploadIn(version int, h Hash) Upload {
	u := wholeUpload(h)
	if u.Version = version; version == 2 {
		want := fmt.Sprintf("want %s\n", h)
		u.Request = fmt.Appendf(nil, "0011command=fetch0001%04x%s0009done\n0000", len(want)+4, want)
	}
	return u
}

// TestUploadRefused: what is no request is ErrUpload, whoever answers.
func TestUploadRefused(t *testing.T) {
	for _, transport := range []string{transportAuto, transportBuiltin} {
		u := newUpstream(t)
		head := u.commit("A", files{"po/de.po": "1"})
		u.set("main", head)
		m := openMirror(t, Remote{URL: u.dir}, Options{Transport: transport})
		_, err := m.Fetch(t.Context())
		must(t, err)
		many := ""
		for i := range maxWants + 1 {
			many += fmt.Sprintf("0032want %s\n", Hash{byte(i)})
		}
		for _, request := range []string{
			"", "x", "no pkt-line", "0003", "ffff", "0009want ", "0032want " + strings.Repeat("x", 40) + "\n", "0033want " + head.String() + "x\n", "0032want " + head.String()[:30], many + "00000009done\n",
			"0012command=fetch\n0001" + "000bwant x\n0000", "000cnonsense0000",
		} {
			var out bytes.Buffer
			err := m.UploadPack(t.Context(), Upload{Request: []byte(request), Version: 2}, &out)
			if !errors.Is(err, ErrUpload) || out.Len() > 0 {
				t.Errorf("%s %.60q: %v %.40q", transport, request, err, out.String())
			}
		}
	}
}

// TestOwnUploadBounds: without the program, a repository that would take too much
// memory is refused before it does.
func TestOwnUploadBounds(t *testing.T) {
	u := newUpstream(t)
	head := u.commit("A", files{"po/de.po": strings.Repeat("x", 1000)})
	u.set("main", head)
	m := openMirror(t, Remote{URL: u.dir}, Options{Transport: transportBuiltin})
	_, err := m.Fetch(t.Context())
	must(t, err)
	dir, _ := m.Path()
	must(t, boundedObjects(t.Context(), dir, 4, 1000)) // a commit, two trees, a file
	for _, err := range []error{boundedObjects(t.Context(), dir, 3, 1000), boundedObjects(t.Context(), dir, 4, 999)} {
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "without the program git") {
			t.Errorf("bounds: %v", err)
		}
	}
}
