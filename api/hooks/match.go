package hooks

import (
	"context"
	"fmt"
	"maps"
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
// checks as many secrets as any repository has, whatever was found, so that its time
// does not reveal a private component.
func (k *call) authorize(found []match, branches []Branch) (granted, refused []match) {
	for _, m := range found {
		if k.mayPull(&m.Component) {
			granted = append(granted, m)
		} else {
			refused = append(refused, m)
		}
	}
	for range mostSecrets(branches) - len(k.proven) {
		k.knows(wrongSecret)
	}
	return granted, refused
}

// mostSecrets is the largest number of secrets of a repository, at least 1.
func mostSecrets(branches []Branch) int {
	most, byRepo := 1, map[string][]string{}
	for i := range branches {
		repo := branches[i].Repo
		for _, secret := range branches[i].Secrets {
			if !slices.Contains(byRepo[repo], secret) {
				byRepo[repo] = append(byRepo[repo], secret)
			}
		}
		most = max(most, len(byRepo[repo]))
	}
	return most
}

// find lists the components whose repository a notification names.
func (s *Server) find(ctx context.Context, n *notification, branches []Branch) ([]match, error) {
	var list []match
	events := map[string]map[string]string{}
	named := func(b *Branch) bool {
		event, ok := n.about(b.Repo)
		events[b.Repo] = event
		return ok
	}
	names := func(b *Branch) []string { return []string{normalAddress(b.Repo)} }
	err := s.read(ctx, branches, named, names, func(b *Branch, c Component) {
		event := maps.Clone(events[b.Repo])
		event["branch"] = c.use() // those of the payload may be anything
		list = append(list, match{Component: c, key: b.Key, event: event})
	})
	return list, err
}

// read gives the components of the branches that a call names. If those are few, it reads
// the components of others all the same, as many as a call can name by one name (names
// lists them): the time of an answer must not reveal that a private repository is here.
func (s *Server) read(ctx context.Context, branches []Branch, named func(*Branch) bool, names func(*Branch) []string, give func(*Branch, Component)) error {
	var yes, no []*Branch
	most, count := 1, map[string]int{}
	for i := range branches {
		b := &branches[i]
		if named(b) {
			yes = append(yes, b)
		} else {
			no = append(no, b)
		}
		for _, name := range names(b) {
			count[name]++
			most = max(most, count[name])
		}
	}
	others := no[:min(len(no), max(0, most-len(yes)))]
	for i, b := range slices.Concat(yes, others) {
		components, err := s.pulls.Components(ctx, b.Key)
		if err != nil {
			return fmt.Errorf("components of %s: %w", b.Key, err)
		}
		for _, c := range components {
			if i < len(yes) {
				give(b, c)
			}
		}
	}
	return nil
}

// about reports whether the notification names a repository, and returns the
// details of the change entry. They have no text of the payload, only of the
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
		name := strings.TrimSuffix(own, ".git")
		event["full_name"] = name[len(name)-len(strings.TrimSuffix(n.fullName, ".git")):]
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
