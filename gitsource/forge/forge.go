package forge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
)

// State is the state of a request.
type State string

// The states. A request that a forge has locked for the time of a merge is open.
const (
	Open   State = "open"
	Merged State = "merged"
	Closed State = "closed"
)

// Request is a request to merge a branch.
type Request struct {
	// Number is what people call it by: #7, or !7 on GitLab.
	Number int
	// State says how it ended, if it did.
	State State
	// URL is its page, "" if the forge names one elsewhere.
	URL string
	// Title and Body are its texts.
	Title, Body string
	// Base is the branch to merge into.
	Base string
	// Commit is what is to be merged, Branch its branch, and Repository the path of the
	// repository that has it: "" if that is gone, or in a list of GitLab a fork.
	Commit, Branch, Repository string
	// Editable says that maintainers may push to that branch: it is of the repository itself,
	// or its owner permits it. In a list of GitHub it is not known of forks.
	Editable bool
	// Merges says that the forge can merge it; false: it cannot, or does not know yet.
	Merges bool
}

// Draft is a request to be opened.
type Draft struct {
	// Head is the branch to be merged, Base the one to merge into, both of this repository.
	Head, Base string
	// Title is cut after 250 characters, Body after MaxBody bytes.
	Title, Body string
}

// Forge has the requests of one repository. Its methods may be called at once. Errors
// wrap one of this package's, or are a [*LimitError].
type Forge interface {
	// Find returns the open request of a branch into another, false if there is none.
	Find(ctx context.Context, head, base string) (Request, bool, error)
	// Open opens a request; ErrExists if there is one.
	Open(ctx context.Context, d Draft) (Request, error)
	// Update sets title, body and base, without one no base, of the request of a number.
	Update(ctx context.Context, r Request) (Request, error)
	// Close closes a request without a merge.
	Close(ctx context.Context, number int) error
	// Read returns a request, open or not.
	Read(ctx context.Context, number int) (Request, error)
	// List returns the open requests of all into a branch, the last changed first, and
	// whether there are more than 200 open ones, of which it read no more.
	List(ctx context.Context, base string) (list []Request, more bool, err error)
}

var (
	// ErrAccess: the forge refuses the token, or what it wants to do.
	ErrAccess = errors.New("the forge refuses access: correct the token, or what it permits")
	// ErrNotFound: there is no such repository or request, or the token must not see it.
	ErrNotFound = errors.New("the forge has no such repository or request, or hides it from the token")
	// ErrExists: the branch has an open request already.
	ErrExists = errors.New("there is an open request already")
	// ErrRefused: the forge does not accept the request, such as one without commits.
	ErrRefused = errors.New("the forge refuses the request")
	// ErrUnavailable: the forge does not answer, or not as its manual says. Try again.
	ErrUnavailable = errors.New("the forge does not answer")
)

// LimitError says that the forge wants no more requests for a while.
type LimitError struct {
	// After is how long to wait, from a second to a day.
	After time.Duration
}

// Error names the time to wait.
func (e *LimitError) Error() string {
	return "the forge wants no more requests for " + e.After.String()
}

// Options say which repository a Forge has.
type Options struct {
	// Kind is one of Kinds.
	Kind string
	// URL is the forge's address, https; "" is the public service of github and gitlab.
	URL string
	// Repository is its path there: owner/name, on GitLab also with groups.
	Repository string
	// Token is the secret.
	Token string
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Transport is how the forge is reached; nil: as http.DefaultTransport.
	Transport http.RoundTripper
}

// Kinds are the known kinds of forges, ascending.
func Kinds() []string { return slices.Sorted(maps.Keys(services())) }

// Timeout is how long one call of a forge may take.
const Timeout = 30 * time.Second

// New returns the forge of a repository. It does not use the network.
func New(o Options) (Forge, error) {
	kind, ok := services()[o.Kind]
	if !ok {
		return nil, fmt.Errorf("forge %q is not known; want one of %s", o.Kind, strings.Join(Kinds(), ", "))
	}
	base, err := kind.address(o)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(o.Repository, "/")
	if len(parts) < 2 || len(parts) > 2 && o.Kind != "gitlab" || !plainParts(parts) {
		return nil, fmt.Errorf("repository %q of the forge: want owner/name", o.Repository)
	}
	if o.Token == "" || strings.ContainsFunc(o.Token, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return nil, errors.New("the token of the forge is empty, or has blanks")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &client{service: kind, Options: o, api: base, requests: base + kind.path(o.Repository), http: &http.Client{
		Transport: o.Transport, Timeout: Timeout,
		// A redirect leads elsewhere, where the token must not go.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// address returns the address below which the API is.
func (s *service) address(o Options) (string, error) {
	if o.URL == "" {
		if s.public == "" {
			return "", fmt.Errorf("set forge_url: there is no public service for %s", o.Kind)
		}
		return s.public, nil
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("forge_url must be an https address without user, query and fragment")
	}
	base := strings.TrimRight(u.String(), "/")
	switch {
	case o.Kind == "github" && strings.EqualFold(u.Host, "github.com"):
		return s.public, nil
	case o.Kind == "github" && strings.EqualFold(u.Host, "api.github.com"):
		return base, nil
	}
	return base + s.below, nil
}

// Git returns the address by https of a repository of the forge, "" if it has no such path: it
// leads to the forge's own host. [New] must accept the options.
func (o Options) Git(repository string) string {
	base := strings.TrimRight(o.URL, "/")
	if u, err := url.Parse(o.URL); o.URL == "" || o.Kind == "github" && err == nil && strings.EqualFold(u.Host, "api.github.com") {
		base = strings.NewReplacer("://api.", "://", "/api/v4", "").Replace(services()[o.Kind].public)
	}
	if parts := strings.Split(repository, "/"); base == "" || len(parts) < 2 || !plainParts(parts) {
		return ""
	}
	return base + "/" + repository + ".git"
}

func plainParts(parts []string) bool {
	for _, part := range parts {
		if part == "" || part == "." || part == ".." || strings.ContainsFunc(part, func(r rune) bool {
			return unicode.IsControl(r) || strings.ContainsRune(` \?#%:@`, r)
		}) {
			return false
		}
	}
	return true
}

// RepositoryOf returns the path of a repository in its address: "owner/name" of
// https://host/owner/name.git, of ssh://git@host/owner/name and of git@host:owner/name.
// It is "" for others. forgeURL is the forge's address: if that has a path, such as
// https://host/git, repositories are below it by https, and not by ssh.
func RepositoryOf(address, forgeURL string) string {
	path := ""
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		path = u.Path
		if f, err := url.Parse(forgeURL); err == nil && u.Scheme == "https" && strings.EqualFold(f.Host, u.Host) {
			path = strings.TrimPrefix(path, strings.TrimRight(f.Path, "/")+"/")
		}
	} else if host, rest, ok := strings.Cut(address, ":"); ok && host != "" && !strings.Contains(host, "/") {
		path = rest
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if parts := strings.Split(path, "/"); len(parts) < 2 || !plainParts(parts) {
		return ""
	}
	return path
}

// Texts are sums of the title and the body that a request had when they were last written,
// as the forge shows them, and its base: what differs was written by somebody else. The zero
// value is of a request of which that is not known.
type Texts struct{ Title, Body, Base string }

func textsOf(r Request) Texts {
	sum := func(text string) string {
		all := sha256.Sum256([]byte(text))
		return fmt.Sprintf("%x", all[:8])
	}
	return Texts{sum(r.Title), sum(r.Body), r.Base}
}

// Keep makes sure that a branch has an open request with the texts of a draft, and
// returns it. number is the request that the branch had last, 0 if none is known. If
// that one was merged or closed, it is returned as it is, and none is opened: what that
// means is the caller's decision. Equal texts are not sent, and a title, body or base that
// somebody wrote since last stays; then the result still has what last has of it.
func Keep(ctx context.Context, f Forge, number int, last Texts, d Draft) (Request, Texts, error) {
	if number > 0 {
		r, err := f.Read(ctx, number)
		if err != nil || r.State != Open {
			return r, last, err
		}
		return refresh(ctx, f, r, last, d)
	}
	r, ok, err := f.Find(ctx, d.Head, d.Base)
	if err != nil {
		return Request{}, last, err
	}
	if !ok {
		if r, err = f.Open(ctx, d); !errors.Is(err, ErrExists) {
			return r, textsOf(r), err
		}
		// A call before was answered, and the answer lost.
		switch r, ok, err = f.Find(ctx, d.Head, d.Base); {
		case err != nil:
			return Request{}, last, err
		case !ok:
			return Request{}, last, fmt.Errorf("%w, but it does not show it", ErrExists)
		}
	}
	return refresh(ctx, f, r, last, d)
}

// refresh sets texts and base of an open request, if it has those that were written last.
func refresh(ctx context.Context, f Forge, r Request, last Texts, d Draft) (Request, Texts, error) {
	now, want := textsOf(r), Request{Number: r.Number, Title: r.Title, Body: r.Body}
	ours := func(last *string, now string) bool {
		if *last != "" && *last != now {
			return false
		}
		*last = ""
		return true
	}
	if ours(&last.Title, now.Title) {
		want.Title = title(d.Title)
	}
	if ours(&last.Body, now.Body) {
		want.Body = body(d.Body)
	}
	if now.Base == d.Base {
		last.Base = now.Base // whoever did it: a forge does where a branch is renamed
	}
	if ours(&last.Base, now.Base) && d.Base != r.Base {
		want.Base = d.Base
	}
	if want.Title != r.Title || want.Body != r.Body || want.Base != "" {
		var err error
		if r, err = f.Update(ctx, want); err != nil {
			return r, last, err
		}
	}
	now = textsOf(r)
	return r, Texts{cmp.Or(last.Title, now.Title), cmp.Or(last.Body, now.Body), cmp.Or(last.Base, now.Base)}, nil
}
