package hooks

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkCall is a call that matches one of many repositories.
func BenchmarkCall(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("branches=%d", n), func(b *testing.B) {
			p := &pulls{components: map[string][]Component{}}
			for i := range n {
				p.branches = append(p.branches, Branch{Key: fmt.Sprint(i), Repo: fmt.Sprintf("https://github.com/kitchen/pan%d.git", i)})
			}
			p.branches[n-1].Repo = teapot
			p.components[fmt.Sprint(n-1)] = []Component{{ID: 1, Project: "p", Slug: "app", Enabled: true, Secured: true, Secret: "one"}}
			s := New(Options{Pulls: p})
			defer s.Close()
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("POST", "http://h/hooks/github/", strings.NewReader(pushed))
				r.Header.Set("X-GitHub-Event", "push")
				w := httptest.NewRecorder()
				if s.ServeHTTP(w, r); w.Code != 403 {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
