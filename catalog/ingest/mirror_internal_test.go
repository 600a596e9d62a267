package ingest

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/testrepos"
)

// TestFetchedForAll: of pulls that wait for the repository of their template, one fetches; one
// that comes later does again.
func TestFetchedForAll(t *testing.T) {
	repo := testrepos.Load(t, "lifecycle")
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{MirrorDir: dir})
		defer s.Close()
		of := Branch{Key: "template", Remote: remote.Repository{URL: repo.URL()}}
		readers := Branch{Templates: []Branch{of}}
		m := s.mirrorOf(of.Key)
		m.turn <- struct{}{}
		var waiting sync.WaitGroup
		for range 5 {
			waiting.Go(func() { s.fetchTemplates(t.Context(), readers) })
		}
		synctest.Wait()
		m.give()
		waiting.Wait()
		if n := m.fetched.Load(); n != 6 || m.away != nil { // asked five times, then once
			t.Errorf("five pulls fetch, the last as of %d, %v", n, m.away)
		}
		if s.fetchTemplates(t.Context(), readers); m.fetched.Load() != 12 || m.away != nil {
			t.Errorf("the last fetch is as of %d, %v", m.fetched.Load(), m.away)
		}
	})
}
