package gitsource

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

func TestBlobLimit(t *testing.T) {
	u := newUpstream(t)
	c := u.Push("A", files{"small": "12345", "big": strings.Repeat("x", 3<<20)})
	r := reader(t, mirrorOf(t, u, Options{}))
	list, err := r.Snapshot(context.Background(), c, nil, nil)
	gittest.Must(t, err)
	big, small := list[0].Blob, list[1].Blob
	if _, err := r.Blob(context.Background(), big, 1<<20); !errors.Is(err, object.ErrTooLarge) || !strings.Contains(err.Error(), "3145728 bytes, limit 1048576") {
		t.Errorf("too large: %v", err)
	}
	if data, err := r.Blob(context.Background(), big, 3<<20); err != nil || len(data) != 3<<20 {
		t.Errorf("just at the limit: %d, %v", len(data), err)
	}
	if data, err := r.Blob(context.Background(), small, 0); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
	if n, err := r.Size(context.Background(), big); err != nil || n != 3<<20 {
		t.Errorf("size %d, %v", n, err)
	}
	for _, h := range []object.Hash{{}, {1}, c} {
		if _, err := r.Blob(context.Background(), h, 0); !errors.Is(err, object.ErrUnknownObject) {
			t.Errorf("%s: %v, want ErrUnknownObject", h, err)
		}
	}
}

func TestDamagedObjects(t *testing.T) {
	_, c, m := mirrored(t, files{"x": strings.Repeat("text ", 1000)}, Options{})
	r := reader(t, m)
	list, err := r.Snapshot(context.Background(), c, nil, nil)
	gittest.Must(t, err)
	dir, _ := m.Path()
	id := list[0].Blob.String()
	name := filepath.Join(dir, "objects", id[:2], id[2:])
	whole, err := os.ReadFile(name)
	gittest.Must(t, err)
	var lying bytes.Buffer // says 10 bytes, holds 4 MiB
	z := zlib.NewWriter(&lying)
	_, _ = z.Write([]byte("blob 10\x00"))
	for range 4 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	gittest.Must(t, z.Close())
	gittest.Must(t, os.Remove(name))
	for what, data := range map[string][]byte{"empty": nil, "cut": whole[:len(whole)/2], "garbage": []byte("garbage"), "lying": lying.Bytes(), "flipped": flip(whole)} {
		gittest.Must(t, os.WriteFile(name, data, 0o600))
		r, err := openReader(dir, object.Head{}, func() {})
		gittest.Must(t, err)
		got, err := r.Blob(context.Background(), list[0].Blob, 0)
		if !errors.Is(err, object.ErrCorrupt) {
			t.Errorf("%s: %d bytes, %v; want ErrCorrupt", what, len(got), err)
		}
		gittest.Must(t, r.Close())
	}
}

func flip(data []byte) []byte {
	data = bytes.Clone(data)
	data[len(data)/2] ^= 0x55
	return data
}

func TestShallowSource(t *testing.T) {
	u := newUpstream(t)
	lost := object.Hash{7, 7}
	cut := u.Commit("Cut", files{"de.po": "1"}, lost)
	c2 := u.Push("B", files{"de.po": "2"}, cut)
	u.Write("shallow", cut.String()+"\n")
	m := mirrorOf(t, u, Options{})
	r := checkFetch(t, m, "main", files{"de.po": "2"})
	if d := cmp.Diff([]string{"Cut: +de.po | Cut[]", "B: ~de.po | B[-1]"}, describe(steps(t, r, object.Hash{}, c2, poMask))); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
	c3 := u.Push("C", files{"de.po": "3"}, c2)
	r = checkFetch(t, m, "main", files{"de.po": "3"})
	if got := describe(steps(t, r, c2, c3, poMask)); len(got) != 1 {
		t.Errorf("steps %v", got)
	}
}

func TestFirstParents(t *testing.T) {
	u := newUpstream(t)
	c1 := u.Commit("A", files{"de.po": "1"})
	side := u.Commit("S", files{"de.po": "2"}, c1)
	c2 := u.Commit("B", files{"README": "y", "de.po": "1"}, c1)
	c3 := u.Push("M", files{"README": "y", "de.po": "2"}, c2, side)
	r := reader(t, mirrorOf(t, u, Options{}))
	var got []object.Hash
	for link, err := range r.FirstParents(t.Context(), c3) {
		gittest.Must(t, err)
		commit, err := r.Commit(t.Context(), link.Hash)
		gittest.Must(t, err)
		if !link.When.Equal(commit.Committer.When) || link.When.Location() != time.UTC {
			t.Errorf("%s is of %s, want %s", link.Hash, link.When, commit.Committer.When)
		}
		got = append(got, link.Hash)
	}
	if diff := cmp.Diff([]object.Hash{c3, c2, c1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	places := []int{}
	for _, s := range steps(t, r, object.Hash{}, c3, poMask) { // B touches no PO file
		places = append(places, s.Position, s.Total)
	}
	if !slices.Equal(places, []int{1, 3, 3, 3}) {
		t.Errorf("places %v", places)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{cancelled, t.Context()} {
		from := c3
		if ctx != cancelled {
			from = object.Hash{1}
		}
		n := 0
		for _, err := range r.FirstParents(ctx, from) {
			if n++; err == nil || n > 1 {
				t.Errorf("%d: %v", n, err)
			}
		}
	}
}

func TestReaderMailmap(t *testing.T) {
	u := newUpstream(t)
	without := u.Commit("A", files{"x": "1"})
	link := u.Commit("A", files{".mailmap": "->x"}, without)
	c := u.Push("A", files{".mailmap": "Proper Anna <anna@example.org>\n"}, link)
	r := reader(t, mirrorOf(t, u, Options{}))
	for _, h := range []object.Hash{without, link} {
		m, err := r.Mailmap(context.Background(), h)
		if name, email := m.Lookup("a", "anna@example.org"); err != nil || name != "a" || email != "anna@example.org" {
			t.Errorf("without a mailmap: %q %q %v", name, email, err)
		}
	}
	m, err := r.Mailmap(context.Background(), c)
	if name, _ := m.Lookup("a", "anna@example.org"); err != nil || name != "Proper Anna" {
		t.Errorf("with a mailmap: %q %v", name, err)
	}
}
