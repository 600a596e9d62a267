package testrepos

import (
	"errors"
	"io"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// ForgeHost is a whole forge: it serves repositories by git, for reading and pushing, and
// the API about their requests, at one address. It asks for a forge's token in both, and
// changes requests as the real ones do when branches move. It is an http.Handler for a
// server with TLS.
type ForgeHost struct {
	// Root is the folder that has the repository of a forge at REPOSITORY.git.
	Root string
	// Forges are what is served. Their paths differ.
	Forges []*Forge

	mu        sync.Mutex
	intercept func(http.ResponseWriter, *http.Request) bool
}

// Intercept calls a function with each request from now on, of git and of the API; if it
// returns true, it has answered. nil ends that.
func (h *ForgeHost) Intercept(by func(http.ResponseWriter, *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.intercept = by
}

// ServeHTTP answers git or a client of the API.
func (h *ForgeHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	intercept := h.intercept
	h.mu.Unlock()
	if intercept != nil && intercept(w, r) {
		return
	}
	for _, f := range h.Forges {
		if strings.HasPrefix(r.URL.Path, "/"+f.Repository+".git/") {
			GitHost{Root: h.Root, Password: f.Token}.ServeHTTP(w, r)
			return
		}
		if strings.HasPrefix(r.URL.EscapedPath()+"/", f.path()+"/") {
			if err := f.follow(filepath.Join(h.Root, filepath.FromSlash(f.Repository)+".git")); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			f.ServeHTTP(w, r)
			return
		}
	}
	http.NotFound(w, r)
}

// follow changes open requests as the forge does when branches move: GitHub and GitLab
// say that a request is merged if its commits came to the other branch by a push; all but
// GitLab close a request whose branch is gone.
func (f *Forge) follow(dir string) error {
	g, err := git.PlainOpen(dir)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.requests {
		r := &f.requests[i]
		if r.State != "open" || r.Fork {
			continue
		}
		head, err := g.Reference(plumbing.NewBranchReferenceName(r.Head), true)
		if errors.Is(err, plumbing.ErrReferenceNotFound) {
			if f.Kind != "gitlab" {
				r.State = "closed"
			}
			continue
		}
		if err != nil {
			return err
		}
		base, err := g.Reference(plumbing.NewBranchReferenceName(r.Base), true)
		if err != nil {
			return err
		}
		ours, err := g.CommitObject(head.Hash())
		if err != nil {
			return err
		}
		theirs, err := g.CommitObject(base.Hash())
		if err != nil {
			return err
		}
		merged, err := ours.IsAncestor(theirs)
		if err != nil {
			return err
		}
		if merged && (f.Kind == "github" || f.Kind == "gitlab") {
			r.State = "merged"
		}
	}
	return nil
}

// GitHost serves the repositories below a folder over git's smart HTTP protocol, with the
// git program (git-http-backend(1)). It is an http.Handler.
type GitHost struct {
	// Root is the folder.
	Root string
	// User and Password must be sent by basic authentication; without them nothing is asked
	// for. A client that has sent a user may push, too.
	User, Password string
}

// ServeHTTP answers git.
func (h GitHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if h.Password != "" && (user == "" || h.User != "" && user != h.User || password != h.Password) {
		w.Header().Set("WWW-Authenticate", `Basic realm="testrepos"`)
		http.Error(w, "wrong user or password", http.StatusUnauthorized)
		return
	}
	git, err := exec.LookPath("git")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	backend := cgi.Handler{Path: git, Args: []string{"http-backend"}, Stderr: io.Discard, Env: []string{
		"GIT_PROJECT_ROOT=" + h.Root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=" + user,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=receive.autogc", "GIT_CONFIG_VALUE_1=false",
	}}
	backend.ServeHTTP(w, r)
}
