package gitsource

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// TestHistories: whatever was asked before, and however branches move, a tip reaches what a walk
// from it meets, and nothing else that the repository has.
func TestHistories(t *testing.T) {
	u := newUpstream(t)
	tree := u.Tree(files{"x": "1"})
	rapid.Check(t, func(rt *rapid.T) {
		h := NewHistories()
		defer h.Close()
		h.most = rapid.SampledFrom([]int{25, 60, 1000}).Draw(rt, "kept")
		parents := map[object.Hash][]object.Hash{}
		var ids []object.Hash
		for i := range rapid.IntRange(2, 25).Draw(rt, "commits") {
			var ps []object.Hash
			for range min(i, rapid.SampledFrom([]int{0, 1, 1, 1, 1, 2, 3}).Draw(rt, "parents")) {
				if p := rapid.SampledFrom(ids).Draw(rt, "parent"); !slices.Contains(ps, p) {
					ps = append(ps, p)
				}
			}
			id := u.CommitTree(fmt.Sprint("c", i), tree, ps...)
			ids, parents[id] = append(ids, id), ps
		}
		opened := 0
		open := func(context.Context) (*Reader, error) {
			opened++
			return openReader(u.Dir, object.Head{}, func() {})
		}
		for range rapid.IntRange(1, 12).Draw(rt, "questions") {
			tip := rapid.SampledFrom(ids).Draw(rt, "tip")
			branch := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "branch")
			want := reachable(parents, tip)
			for _, id := range append(slices.Clone(ids), object.Hash{}, object.Hash{1}, object.Hash(tree)) {
				got, err := h.Reach(t.Context(), open, branch, tip, tip, id)
				if err != nil || got != want[id] {
					rt.Fatalf("%s reaches %s: %v, want %v; %v", tip, id, got, want[id], err)
				}
			}
			before := opened
			if _, err := h.Reach(t.Context(), open, branch, tip, ids...); err != nil || opened != before {
				rt.Fatalf("the same question reads the repository again: %v", err)
			}
			sum, each := 0, map[string]int{}
			for k := range maps.Values(h.kept) {
				sum += len(k.ids)
				each[k.branch]++
			}
			if sum != h.ids || sum > h.most || each["a"] > 2 || each["b"] > 2 {
				rt.Fatalf("%d ids are kept, %d are counted; %v", sum, h.ids, each)
			}
		}
	})
}

// TestHistoriesGoOn: a walk outlasts who began it, one history is walked once, and an error
// is not kept.
func TestHistoriesGoOn(t *testing.T) {
	u, head, m := mirrored(t, files{"x": "1"}, Options{})
	fetch(t, m)
	h := NewHistories()
	goOn, opened := make(chan struct{}), 0
	slow := func(ctx context.Context) (*Reader, error) {
		opened++
		<-goOn
		return m.Reader(ctx)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if _, err := h.Reach(gone, slow, "b", head, head); !errors.Is(err, ErrWalking) || !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	close(goOn)
	if ok, err := h.Reach(t.Context(), slow, "b", head, head); !ok || err != nil || opened != 1 {
		t.Fatal(ok, err)
	}
	for range 2 {
		if ok, err := h.Reach(t.Context(), m.Reader, "b", object.Hash{200}, head); ok || !errors.Is(err, object.ErrUnknownCommit) {
			t.Fatal(ok, err)
		}
	}
	next := u.Push("B", files{"x": "2"}, head)
	if _, err := h.Reach(t.Context(), m.Reader, "b", next); !errors.Is(err, object.ErrUnknownCommit) {
		t.Fatal(err)
	}
	fetch(t, m)
	opened = 0 // from the beginning it would be opened again
	if ok, err := h.Reach(t.Context(), slow, "b", next, head, next); !ok || err != nil || opened != 1 {
		t.Fatal(ok, err, opened)
	}
	h.most = 1
	if _, err := h.Reach(t.Context(), m.Reader, "c", next); err != nil { // it is known
		t.Fatal(err)
	}
	last := u.Push("C", files{"x": "3"}, next)
	fetch(t, m)
	if _, err := h.Reach(t.Context(), m.Reader, "c", last); !errors.Is(err, object.ErrTooLarge) {
		t.Fatal(err)
	}
	h.Close()
	if _, err := h.Reach(t.Context(), m.Reader, "b", object.Hash{201}); !errors.Is(err, ErrWalking) {
		t.Errorf("after the end: %v", err)
	}
}

// TestChanged: only files of the matcher that differ, in either direction.
func TestChanged(t *testing.T) {
	u := newUpstream(t)
	a := u.Commit("A", files{"a.po": "1", "b.po": "1", "d/c.po": "1", "x": "1", "l.po": "->x"})
	b := u.Push("B", files{"a.po": "2", "b.po": "1", "d/e.po": "1", "x": "2", "l.po": "->y"}, a)
	r := reader(t, mirrorOf(t, u, Options{}))
	got, err := r.Changed(t.Context(), a, b, poMask)
	gittest.Must(t, err)
	one, two := u.Blob("1"), u.Blob("2")
	if want := []Change{{"a.po", one, two}, {"d/c.po", one, object.Hash{}}, {"d/e.po", object.Hash{}, one}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for i, c := range got {
		got[i].Old, got[i].New = c.New, c.Old
	}
	back, err := r.Changed(t.Context(), b, a, poMask)
	if err != nil || !slices.Equal(back, got) {
		t.Errorf("back: %v %v", back, err)
	}
	if _, err := r.Changed(t.Context(), object.Hash{1}, a, poMask); !errors.Is(err, object.ErrUnknownCommit) {
		t.Error(err)
	}
}

// BenchmarkReach asks about commits of a history of 100,000, which it walks once.
func BenchmarkReach(b *testing.B) {
	u := newUpstream(b)
	tree := u.Tree(files{"x": "1"})
	head := u.CommitTree("A", tree)
	first := head
	for range 100_000 - 1 {
		head = u.CommitTree("A", tree, head)
	}
	u.Set("main", head)
	gittest.RunGit(b, u.Dir, "repack", "-adq")
	m := mirrorOf(b, u, Options{})
	fetch(b, m)
	for _, known := range []bool{false, true} {
		b.Run(fmt.Sprintf("known=%v", known), func(b *testing.B) {
			h := NewHistories()
			defer func() { h.Close() }()
			_, err := h.Reach(b.Context(), m.Reader, "b", head)
			gittest.Must(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if !known {
					h.Close()
					h = NewHistories()
				}
				if ok, err := h.Reach(b.Context(), m.Reader, "b", head, first); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}
