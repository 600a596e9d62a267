package gitsource

import (
	"context"
	"testing"

	"github.com/repoglot/repoglot/gitsource/object"
)

func TestReaderMailmap(t *testing.T) {
	u := newUpstream(t)
	without := u.Commit("A", files{"x": "1"})
	link := u.Commit("A", files{".mailmap": "->x"}, without)
	c := u.Commit("A", files{".mailmap": "Proper Anna <anna@example.org>\n"}, link)
	u.Set("main", c)
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
