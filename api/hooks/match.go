package hooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// match is a component that a call is about.
type match struct {
	Component
	key   string            // of its branch
	event map[string]string // of its entry
	// beside says that its own branch was not pushed, but one that suggests: it
	// is pulled and gets no entry, as nothing of its history can be new.
	beside bool
}

// told reports whether a caller who may have it pulled may learn of it: of a
// private component only who knows its secret.
func (m match) told() bool { return !m.Private || m.Secured }

// sort parts the components that the call may have pulled from the others. It
// works as long where there are no secrets as where there is one, so that its
// time does not tell of a private component.
func (k *call) sort(found []match) (granted, refused []match) {
	k.knows(wrongSecret)
	for _, m := range found {
		if k.may(&m.Component) {
			granted = append(granted, m)
		} else {
			refused = append(refused, m)
		}
	}
	return granted, refused
}

// find lists the components whose repository a notification is about.
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

// about reports whether the notification is about a repository, and what the
// entry tells of it (weblate-facts §4, action 53): of the payload only what
// matched, since everybody can send one and the entry is shown to all.
func (n *notification) about(repo string) (event map[string]string, ok bool) {
	own := comparable(repo)
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

// comparable is an address without what two spellings of one may differ in
// (weblate-facts §12): a slash at the end, and over HTTP user and password.
func comparable(address string) string {
	address = strings.TrimRight(address, "/")
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return address
	}
	host, path, _ := strings.Cut(rest, "/")
	return strings.ToLower(scheme) + "://" + strings.ToLower(host[strings.LastIndexByte(host, '@')+1:]) + "/" + path
}

// endsWith reports whether an address ends with a repository's full name, with
// or without .git. Weblate compares ends alone; the name has to begin there, or
// else a push to b/app would be one to web/app.
func endsWith(address, fullName string) bool {
	fullName = strings.ToLower(strings.TrimSuffix(fullName, ".git"))
	before, ok := strings.CutSuffix(strings.TrimSuffix(strings.ToLower(address), ".git"), fullName)
	return ok && (before == "" || strings.HasSuffix(before, "/") || strings.HasSuffix(before, ":"))
}
