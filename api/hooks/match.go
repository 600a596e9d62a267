package hooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// match is a component whose repository a call names.
type match struct {
	Component
	key   string            // the key of its branch
	event map[string]string // details of its change entry
	// suggestsOnly says that the push was to a branch with suggestions: the
	// component is pulled and gets no entry, since its own history did not change.
	suggestsOnly bool
}

// mayTell reports whether a caller who may pull the component may learn that it
// exists: for a private one, only callers who know its secret.
func (m match) mayTell() bool { return !m.Private || m.Secured }

// authorize separates the components that the call may pull from the others. It
// checks one secret in any case, so that its time does not reveal a private
// component.
func (k *call) authorize(found []match) (granted, refused []match) {
	k.knows(wrongSecret)
	for _, m := range found {
		if k.mayPull(&m.Component) {
			granted = append(granted, m)
		} else {
			refused = append(refused, m)
		}
	}
	return granted, refused
}

// find lists the components whose repository a notification names.
func (s *Server) find(ctx context.Context, n *notification) ([]match, error) {
	var list []match
	for _, b := range s.pulls.Branches() {
		event, ok := n.about(b.Repo)
		if !ok {
			continue
		}
		components, err := s.pulls.Components(ctx, b.Key)
		if err != nil {
			return nil, fmt.Errorf("components of %s: %w", b.Key, err)
		}
		for _, c := range components {
			list = append(list, match{Component: c, key: b.Key, event: event})
		}
	}
	return list, nil
}

// about reports whether the notification names a repository, and returns the
// details of the change entry. Of the payload they have only what matched the
// configuration, since anybody can send one and the entry is public.
func (n *notification) about(repo string) (event map[string]string, ok bool) {
	own := normalAddress(repo)
	byAddress := slices.Contains(n.repos, own)
	byName := n.fullName != "" && endsWith(own, n.fullName)
	if !byAddress && !byName {
		return nil, false
	}
	event = map[string]string{"service_long_name": n.service, "repo_url": repo, "full_name": "", "branch": "", "repos": ""}
	if byAddress {
		event["repos"] = repo
	}
	if byName {
		event["full_name"] = n.fullName
	}
	if len(n.branches) == 1 {
		event["branch"] = n.branches[0]
	}
	return event, true
}

// normalAddress returns an address without a slash at the end and, over HTTP,
// without user and password (docs/compatibility.md#webhooks).
func normalAddress(address string) string {
	address = strings.TrimRight(address, "/")
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return address
	}
	host, path, _ := strings.Cut(rest, "/")
	return strings.ToLower(scheme) + "://" + strings.ToLower(host[strings.LastIndexByte(host, '@')+1:]) + "/" + path
}

// endsWith reports whether an address ends with a repository's full name, with
// or without .git. Unlike in Weblate, the name must begin after / or : in the
// address, or a push to b/app would match web/app.
func endsWith(address, fullName string) bool {
	fullName = strings.ToLower(strings.TrimSuffix(fullName, ".git"))
	before, ok := strings.CutSuffix(strings.TrimSuffix(strings.ToLower(address), ".git"), fullName)
	return ok && (before == "" || strings.HasSuffix(before, "/") || strings.HasSuffix(before, ":"))
}
