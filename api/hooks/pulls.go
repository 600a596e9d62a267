package hooks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Pulls finds the components of a repository and pulls them, also concurrently.
type Pulls interface {
	// Branches lists the branches that are pulled. It does no I/O.
	Branches() []Branch
	// Components lists the components of a branch, which may be none. A
	// discovery that found no component yet is listed without an id.
	Components(ctx context.Context, key string) ([]Component, error)
	// Record stores change entry 53 (docs/compatibility.md#component-events) for
	// components of a branch, at most one per component and minute, and returns
	// when it is durable. Components that were never imported get no entry.
	Record(ctx context.Context, key string, components []int64, event map[string]string) error
	// Pull asks for a pull of a branch as soon as possible, once for all calls that wait.
	Pull(key string)
}

// Branch is a branch of a repository that is pulled.
type Branch struct {
	// Key names it in all methods of Pulls.
	Key string
	// Repo is the repository's address without credentials.
	Repo string
	// Projects are the slugs of the projects with components of this branch.
	Projects []string
	// Secrets are the secrets of its components, each once. They are never printed.
	Secrets []string
	// Open says that a component of it has no secret: any call may pull it.
	Open bool
}

// Component is a component in the terms of this package.
type Component struct {
	// ID is its id in the store; 0 if it is not stored yet.
	ID int64
	// Project and Slug name it in URLs.
	Project, Slug string
	// Branch is the configured branch; "" follows the remote's HEAD.
	Branch string
	// Tracking is the branch in use; "" before the first pull.
	Tracking string
	// Suggests reports whether another branch's texts are suggestions; nil: none's.
	Suggests func(branch string) bool
	// Private says that callers without its secret must not learn of it.
	Private bool
	// Enabled is enable_hooks of its project.
	Enabled bool
	// Secured: only calls signed with Secret are accepted; none if that is "". Not printed.
	Secured bool
	Secret  string
}

func (c *Component) name() string { return c.Project + "/" + c.Slug }

// use is the branch in use; "" if the remote's HEAD is followed and was not pulled yet.
func (c *Component) use() string { return cmp.Or(c.Branch, c.Tracking) }

// follows reports whether a push to some branches may change the component
// (docs/compatibility.md#webhooks). An empty list means any branch.
func (c *Component) follows(branches []string, defaultBranch string) bool {
	use := c.use()
	return len(branches) == 0 || use == "" || slices.ContainsFunc(branches, func(b string) bool {
		// HEAD may have moved to a branch that no pull has seen yet.
		return b == use || c.Branch == "" && defaultBranch != "" && b == defaultBranch
	})
}

// throttle lets something happen at most once per pause for each key. What is asked for during
// a pause happens once, at its end. Keys are branches of the configuration, so there are few.
type throttle struct {
	*Options
	kind  string
	pause time.Duration

	mu     sync.Mutex
	closed bool
	last   map[string]time.Time
	stops  map[string]func() bool // by key, while something waits for the end of its pause
}

func newThrottle(kind string, pause time.Duration, o *Options) *throttle {
	return &throttle{Options: o, kind: kind, pause: pause, last: map[string]time.Time{}, stops: map[string]func() bool{}}
}

// begin reports whether something may happen now, and if so begins the key's pause, for
// all processes. Else later is called once at the end of the pause, for all refusals.
func (p *throttle) begin(ctx context.Context, key string, later func(key string)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.stops[key] != nil {
		return false
	}
	now := p.Now()
	left := p.pause - now.Sub(p.last[key])
	if left <= 0 || left > p.pause { // the clock was set back
		p.last[key] = now
		p.mu.Unlock()
		left = p.claimed(ctx, key)
		p.mu.Lock()
		if left <= 0 {
			return !p.closed
		}
		delete(p.last, key)
	}
	if stop := p.stops[key]; !p.closed && (stop == nil || stop()) { // one that came while others were asked waits too long
		p.stops[key] = p.AfterFunc(left, func() { p.over(key, later) })
	}
	return false
}

// claimed begins a pause for all processes, or returns the rest of another's.
func (p *throttle) claimed(ctx context.Context, key string) time.Duration {
	if p.Claim == nil {
		return 0
	}
	left, err := p.Claim(ctx, p.kind, key, p.pause)
	if err != nil {
		p.Logger.Debug("hook: the pauses of other processes are not known", "branch", key, "error", err)
		return 0
	}
	return min(left, p.pause)
}

// over ends a key's pause and begins the next one, unless another process did that: then
// later is called at the end of its pause.
func (p *throttle) over(key string, later func(key string)) {
	p.mu.Lock()
	delete(p.stops, key)
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	if p.begin(ctx, key, later) {
		later(key)
	}
}

// close drops everything that waits.
func (p *throttle) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, stop := range p.stops {
		stop()
	}
}

// match is a component whose repository a call names.
type match struct {
	Component
	key   string            // the key of its branch
	event map[string]string // details of its change entry
	// quiet says that the push was to a branch with suggestions, or that the call is about a
	// request: the component is pulled and gets no entry, since its own history did not change.
	quiet bool
}

// mayTell reports whether a caller who may pull the component may learn that it
// exists: for a private one, only callers who know its secret.
func (m match) mayTell() bool { return !m.Private || m.Secured }

// authorize separates the components that the call may pull from the others. It checks as many
// secrets as any repository has, whatever was found: its time reveals no private component.
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
		components, err := s.Pulls.Components(ctx, b.Key)
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

// endsWith reports whether an address ends with a repository's full name, with or without .git,
// after / or :, unlike in Weblate, where a push to b/app would match web/app.
func endsWith(address, fullName string) bool {
	fullName = strings.ToLower(strings.TrimSuffix(fullName, ".git"))
	before, ok := strings.CutSuffix(strings.TrimSuffix(strings.ToLower(address), ".git"), fullName)
	return ok && (before == "" || strings.HasSuffix(before, "/") || strings.HasSuffix(before, ":"))
}
