package gitsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
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

// FuzzParseUpload reads what a client posts.
func FuzzParseUpload(f *testing.F) {
	f.Add(wholeUpload(Hash{1}).Request)
	f.Add([]byte("0009done\n0000"))
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := parseUpload(data)
		if err == nil && len(q.wants) == 0 {
			t.Error("nothing is wanted, and no error")
		}
	})
}
