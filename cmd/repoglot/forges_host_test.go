package main

import (
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/repoglot/repoglot/testrepos"
)

// forgeHost is a whole forge: it serves repositories by git, for reading and pushing, and
// the API about their requests, at one address. It asks for a forge's token in both, and
// changes requests as the real ones do when branches move. It is an http.Handler for a
// server with TLS.
type forgeHost struct {
	// Root is the folder that has the repository of a forge at REPOSITORY.git.
	Root string
	// Forges are what is served. Their paths differ.
	Forges []*testrepos.Forge

	api       sync.Mutex // held by a call of the API
	mu        sync.Mutex
	intercept func(http.ResponseWriter, *http.Request) bool
}

// Intercept calls a function with each request from now on, of git and of the API; if it
// returns true, it has answered. nil ends that.
func (h *forgeHost) Intercept(by func(http.ResponseWriter, *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.intercept = by
}

// ServeHTTP answers git or a client of the API.
func (h *forgeHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	intercept := h.intercept
	h.mu.Unlock()
	if intercept != nil && intercept(w, r) {
		return
	}
	for _, f := range h.Forges {
		if strings.HasPrefix(r.URL.Path, "/"+f.Repository+".git/") {
			(&gitHost{Root: h.Root, Password: f.Token}).ServeHTTP(w, r)
			return
		}
		_, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/api/v4/projects/")) // of a fork on GitLab
		if strings.HasPrefix(r.URL.EscapedPath()+"/", f.Path()+"/") || f.Kind == "gitlab" && err == nil && len(f.Requests()) > 0 {
			h.api.Lock()
			defer h.api.Unlock()
			if err := followBranches(f, filepath.Join(h.Root, filepath.FromSlash(f.Repository)+".git")); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			f.ServeHTTP(w, r)
			return
		}
	}
	http.NotFound(w, r)
}

// followBranches changes open requests as the forge does when branches move: GitHub and GitLab
// say that a request is merged if its commits came to the other branch by a push; all but
// GitLab close a request whose branch is gone.
func followBranches(f *testrepos.Forge, dir string) error {
	g, err := git.PlainOpen(dir)
	if err != nil {
		return err
	}
	for _, r := range f.Requests() {
		if r.State != "open" || r.Fork {
			continue
		}
		head, err := g.Reference(plumbing.NewBranchReferenceName(r.Head), true)
		if errors.Is(err, plumbing.ErrReferenceNotFound) {
			if f.Kind != "gitlab" {
				f.End(r.Number, "closed")
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
			f.End(r.Number, "merged")
		}
	}
	return nil
}
