package gitsource

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// TestRedirects: a remote may lead to another place on its host, also on another port, which
// gets no credentials; never to another host, whose words are in no error.
func TestRedirects(t *testing.T) {
	t.Parallel()
	root, u := upstreamBelow(t)
	want := files{"x": "1"}
	u.Push("A", want)
	const secret = "INTERNAL-SECRET-9"
	transports(t, root, func(t *testing.T, transport string, h http.Handler) {
		var inside, elsewhere atomic.Int64
		internal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			inside.Add(1)
			w.Header().Set("Content-Type", "text/plain")
			http.Error(w, secret, http.StatusInternalServerError)
		}))
		defer internal.Close()
		otherPort := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				elsewhere.Add(1)
			}
			h.ServeHTTP(w, r)
		}))
		defer otherPort.Close()
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			query := "?" + r.URL.RawQuery
			switch name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); name {
			case "renamed.git":
				http.Redirect(w, r, "/twice.git/"+rest+query, http.StatusMovedPermanently)
			case "twice.git":
				http.Redirect(w, r, "/up.git/"+rest+query, http.StatusFound)
			case "port.git":
				http.Redirect(w, r, otherPort.URL+"/up.git/"+rest+query, http.StatusTemporaryRedirect)
			case "inside.git":
				http.Redirect(w, r, strings.Replace(internal.URL, "127.0.0.1", "localhost", 1)+r.URL.String(), http.StatusFound)
			case "round.git":
				http.Redirect(w, r, r.URL.String(), http.StatusFound)
			case "file.git":
				w.Header().Set("Location", "file:///etc/passwd")
				w.WriteHeader(http.StatusFound)
			default:
				h.ServeHTTP(w, r)
			}
		}))
		defer srv.Close()
		address := "http://anna:hunter2@" + strings.TrimPrefix(srv.URL, "http://")
		opts := Options{Remote: remote.Options{Transport: transport}}
		for _, name := range []string{"/renamed.git", "/port.git"} {
			checkFetch(t, openMirror(t, remote.Repository{URL: address + name}, opts), "main", want)
		}
		for _, name := range []string{"/inside.git", "/round.git", "/file.git"} {
			_, err := openMirror(t, remote.Repository{URL: address + name}, opts).Fetch(context.Background())
			if !errors.Is(err, remote.ErrUnreachable) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "localhost") || strings.Contains(err.Error(), "passwd") || !strings.Contains(err.Error(), "redirect") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if inside.Load()+elsewhere.Load() > 0 {
			t.Errorf("another host was asked %d times, another port got credentials %d times", inside.Load(), elsewhere.Load())
		}
	})
}

// TestRedirectedPush: a repository that was renamed on its host is still pushed to; one that
// leads to another host is not.
func TestRedirectedPush(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	root, u := upstreamBelow(t)
	u.Push("A", files{"x": "1"})
	gittest.RunGit(t, u.Dir, "config", "http.receivepack", "true")
	h := backend(t, root)
	var inside atomic.Int64
	internal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { inside.Add(1); w.WriteHeader(500) }))
	defer internal.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, "/renamed.git"); ok {
			http.Redirect(w, r, "/up.git"+rest+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/inside.git") {
			http.Redirect(w, r, strings.Replace(internal.URL, "127.0.0.1", "localhost", 1)+r.URL.String(), http.StatusFound)
			return
		}
		h.ServeHTTP(w, r)
	}))
	defer srv.Close()
	m := openMirror(t, remote.Repository{URL: srv.URL + "/up.git"}, Options{})
	head := fetch(t, m)
	w, err := m.Writer(t.Context())
	gittest.Must(t, err)
	defer w.Close()
	push := remote.Push{Branch: "new", Commit: head.Hash, Replace: true}
	gittest.Must(t, w.Push(t.Context(), remote.Repository{URL: srv.URL + "/renamed.git"}, push))
	if err := w.Push(t.Context(), remote.Repository{URL: srv.URL + "/inside.git"}, push); !errors.Is(err, remote.ErrUnreachable) || inside.Load() > 0 {
		t.Errorf("to another host: %v, asked %d times", err, inside.Load())
	}
}
