package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/repoglot/repoglot/gitsource/object"
)

// wireSource is go-git: its sessions list refs, ask for packs and push. They are made for
// each call and registered nowhere, since go-git's table of protocols is global.
type wireSource struct{ client }

// maxHeld bounds the bytes that go-git keeps in memory: a list of refs (half a million of
// them), and what comes before a pack.
const maxHeld = 32 << 20

// session is a conversation of go-git with a remote, behind a reader that bounds what it holds
// and how long the remote is silent. go-git's client for HTTP speaks to all remotes, since only
// it takes such a reader: see stream for ssh and git's own protocol. Use by one goroutine.
type session struct {
	transport.Transport
	endpoint *transport.Endpoint
	auth     transport.AuthMethod

	base     http.RoundTripper
	query    string // of the remote's address
	patience time.Duration
	timer    *time.Timer
	in       *io.LimitedReader // the body of the current answer
	broken   error             // why reading it ended, unless with io.EOF
	ends     []func()
}

// open prepares a session, which ends with the context returned, or when the remote is silent.
func (s *wireSource) open(ctx context.Context) (context.Context, *session, error) {
	e, err := parseEndpoint(s.remote.URL)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &session{query: e.query, patience: s.Silence, timer: time.AfterFunc(2*s.Silence, cancel)}
	c.ends = append(c.ends, cancel, func() { c.timer.Stop() })
	var web *http.Client
	if e.scheme == "ssh" || e.scheme == "git" {
		t := &stream{s: s, e: e}
		c.ends = append(c.ends, t.close)
		c.base, c.query = t, ""
		web = &http.Client{}
		c.endpoint = &transport.Endpoint{Protocol: "http", Host: "git.invalid", Path: "/"}
	} else {
		var finish func()
		web, c.auth, finish = s.httpClient(e)
		c.base = web.Transport
		c.ends = append(c.ends, finish)
		bare := e
		bare.path, bare.query = strings.TrimSuffix(e.path, "/"), ""
		if c.endpoint, err = transport.NewEndpoint(bare.clean()); err != nil {
			c.close()
			return nil, nil, err
		}
	}
	web.Transport = c
	c.Transport = githttp.NewClient(web)
	return ctx, c, nil
}

// close ends the session.
func (c *session) close() {
	for _, end := range slices.Backward(c.ends) {
		end()
	}
}

// RoundTrip sends a request of go-git and bounds the answer.
func (c *session) RoundTrip(req *http.Request) (*http.Response, error) {
	c.timer.Reset(2 * c.patience)
	if c.query != "" && !strings.Contains(req.URL.RawQuery, c.query) {
		req = req.Clone(req.Context())
		req.URL.RawQuery = strings.TrimSuffix(c.query+"&"+req.URL.RawQuery, "&")
	}
	res, err := c.base.RoundTrip(req)
	if err == nil {
		c.in = &io.LimitedReader{R: res.Body, N: maxHeld + 1}
		res.Body = sessionBody{c, res.Body}
	}
	return res, err
}

// sessionBody is a body of an answer.
type sessionBody struct {
	c *session
	io.Closer
}

// Read reads on; each byte of a pack gives the remote time for the next.
func (b sessionBody) Read(p []byte) (int, error) {
	n, err := b.c.in.Read(p)
	switch {
	case b.c.in.N <= 0:
		b.c.broken = object.LimitError(fmt.Sprintf("it sends more than %d MiB before a pack", maxHeld>>20))
		return 0, b.c.broken
	case err != nil && !errors.Is(err, io.EOF):
		b.c.broken = err
	case n > 0 && b.c.in.N > maxHeld+1:
		b.c.timer.Reset(b.c.patience)
	}
	return n, err
}

// why returns the reason of an error: go-git's is often that of what it could not decode.
func (c *session) why(ctx context.Context, err error) error {
	if limit, ok := errors.AsType[object.LimitError](c.broken); ok {
		return limit
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t, ok := c.base.(*stream); ok {
		return t.explain(err)
	}
	return err
}

// httpClient returns a client for an HTTP address; auth may be nil. finish ends connections.
func (s *wireSource) httpClient(e endpoint) (c *http.Client, auth githttp.AuthMethod, finish func()) {
	if s.access.Username != "" || s.access.Password != "" {
		auth = &githttp.BasicAuth{Username: s.access.Username, Password: s.access.Password}
	}
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, ResponseHeaderTimeout: 2 * s.Silence,
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
	}
	c = &http.Client{Transport: sameOrigin{scheme: e.scheme, host: e.host, base: base}, CheckRedirect: s.mayFollow(e)}
	return c, auth, base.CloseIdleConnections
}

// sameOrigin sends no credentials to another port that the remote redirects to.
type sameOrigin struct {
	scheme, host string
	base         http.RoundTripper
}

// RoundTrip removes the Authorization header from requests to other origins.
func (t sameOrigin) RoundTrip(req *http.Request) (*http.Response, error) {
	if (req.URL.Host != t.host || req.URL.Scheme != t.scheme) && req.Header.Get("Authorization") != "" {
		req = req.Clone(req.Context())
		req.Header.Del("Authorization")
	}
	return t.base.RoundTrip(req)
}

// refs asks for the refs of the remote.
func (s *wireSource) refs(ctx context.Context) (*packp.AdvRefs, error) {
	ctx, c, err := s.open(ctx)
	if err != nil {
		return nil, s.describe(err)
	}
	defer c.close()
	_, refs, err := s.begin(ctx, c)
	return refs, err
}

// begin begins to fetch.
func (s *wireSource) begin(ctx context.Context, c *session) (transport.UploadPackSession, *packp.AdvRefs, error) {
	up, err := c.NewUploadPackSession(c.endpoint, c.auth)
	if err != nil {
		return nil, nil, s.describe(err)
	}
	refs, err := up.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, nil, s.describe(c.why(ctx, err))
	}
	return up, refs, nil
}

func (s *wireSource) Tip(ctx context.Context) (object.Head, error) {
	refs, err := s.refs(ctx)
	if err != nil {
		return object.Head{}, err
	}
	return s.choose(refs)
}

func (s *wireSource) List(ctx context.Context, patterns []BranchPattern) ([]object.Head, error) {
	refs, err := s.refs(ctx)
	if err != nil {
		return nil, err
	}
	found := branchList{}
	for name, h := range refs.References {
		if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok {
			found.add(patterns, branch, object.Hash(h))
		}
	}
	return found.heads(), nil
}

// choose finds the branch among the advertised refs.
func (s *wireSource) choose(refs *packp.AdvRefs) (object.Head, error) {
	branch := s.remote.Branch
	if branch == "" {
		branch = defaultBranch(refs)
		if branch == object.Detached && refs.Head != nil {
			return object.Head{Hash: object.Hash(*refs.Head), Branch: object.Detached}, nil
		}
	}
	if h, ok := refs.References["refs/heads/"+branch]; ok {
		return object.Head{Hash: object.Hash(h), Branch: branch}, nil
	}
	return object.Head{}, s.fail(ErrBranchMissing, fmt.Sprintf("%q", branch), "correct branch:, or leave it out to follow the repository's HEAD")
}

// defaultBranch returns the branch that HEAD names. If the remote does not say, it
// is a branch of the same commit: main, master, or the first by name.
func defaultBranch(refs *packp.AdvRefs) string {
	for _, sym := range refs.Capabilities.Get(capability.SymRef) {
		if name, ok := strings.CutPrefix(sym, "HEAD:refs/heads/"); ok && object.ValidBranch(name) {
			return name
		}
	}
	if refs.Head == nil {
		return "main"
	}
	var same []string
	for name, h := range refs.References {
		if b, ok := strings.CutPrefix(name, "refs/heads/"); ok && h == *refs.Head && object.ValidBranch(b) {
			same = append(same, b)
		}
	}
	slices.Sort(same)
	for _, b := range []string{"main", "master"} {
		if slices.Contains(same, b) {
			return b
		}
	}
	return cmp.Or(append(same, object.Detached)...)
}

func (s *wireSource) Transfer(ctx context.Context, gitDir string, tip object.Head, have []object.Hash) error {
	old, err := object.Packs(gitDir)
	if err != nil {
		return err
	}
	ctx, c, err := s.open(ctx)
	if err != nil {
		return s.describe(err)
	}
	defer c.close()
	up, refs, err := s.begin(ctx, c)
	if err != nil {
		return err
	}
	var ends []string
	for _, h := range refs.Shallows {
		ends = append(ends, h.String())
	}
	if err := object.WriteShallow(gitDir, strings.Join(ends, "\n")); err != nil {
		return err
	}
	req := packp.NewUploadPackRequestFromCapabilities(refs.Capabilities)
	if refs.Capabilities.Supports(capability.NoProgress) {
		_ = req.Capabilities.Set(capability.NoProgress)
	}
	req.Wants = []plumbing.Hash{plumbing.Hash(tip.Hash)}
	for _, h := range have {
		req.Haves = append(req.Haves, plumbing.Hash(h))
	}
	if req.IsEmpty() {
		return nil // everything is there
	}
	answer, err := up.UploadPack(ctx, req)
	if errors.Is(err, transport.ErrEmptyUploadPackRequest) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return s.describe(c.why(ctx, err))
	}
	defer answer.Close()
	c.in.N = math.MaxInt64 // a pack is bounded where it is stored
	c.timer.Reset(c.patience)
	err = object.Receive(ctx, gitDir, packEnd{demux(req.Capabilities, answer), c.timer}, s.limits.Within(gitDir))
	if err != nil {
		return s.received(ctx, c, err)
	}
	return object.Loosen(ctx, gitDir, old)
}

// packEnd reads a pack. Behind its end the remote owes nothing: what is done with the pack
// then may take longer than a silence.
type packEnd struct {
	io.Reader
	timer *time.Timer
}

func (p packEnd) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil {
		p.timer.Stop()
	}
	return n, err
}

// received says whether disk, remote or mirror is to blame for a pack that was not stored.
func (s *wireSource) received(ctx context.Context, c *session, err error) error {
	switch {
	case errors.As(err, new(*os.PathError)):
		return fmt.Errorf("store what was fetched: %w; check data_dir and its free space", err)
	case c.broken != nil || ctx.Err() != nil:
		return s.describe(cmp.Or(ctx.Err(), c.broken))
	case errors.As(err, new(object.LimitError)):
		return s.fail(object.ErrTooLarge, s.safe(err), "use a smaller repository, or raise the limit; git: binary has room for larger objects")
	case errors.Is(err, object.ErrHarmful):
		return s.fail(ErrUnreachable, mayHarm+s.safe(err), "run git fsck there")
	}
	return s.fail(ErrUnreachable, "it sent a pack that cannot be read: "+s.safe(err), "run git fsck there")
}

func demux(caps *capability.List, r io.Reader) io.Reader {
	switch {
	case caps.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, r)
	case caps.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, r)
	}
	return r
}

// describe makes an *Error of an error of a transport.
func (s *wireSource) describe(err error) error {
	var unknown *url.Error
	var remote *Error
	if unexpected, ok := errors.AsType[*plumbing.UnexpectedError](err); ok { // of go-git, which does not unwrap
		err = unexpected.Err
	}
	var limit object.LimitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limit):
		return s.fail(object.ErrTooLarge, limit.Error(), "set git: binary, or use a smaller repository")
	case errors.As(err, &remote):
		return remote // without the address that a redirect leads to
	case contextCause(err) != nil:
		return s.timedOut(contextCause(err))
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return s.fail(ErrEmptyRepository, "", "push a first commit")
	case errors.Is(err, transport.ErrAuthenticationRequired) && s.access == (Credential{}):
		return s.fail(ErrAuth, "it wants a user and a password", "set credentials: for this host, or check that the repository exists")
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return s.fail(ErrAuth, "user or password is refused", "check credentials: for this host")
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return s.fail(ErrAuth, "access is forbidden", "check credentials: for this host")
	case errors.Is(err, transport.ErrRepositoryNotFound), saysAbsent(err.Error()):
		return s.fail(ErrUnreachable, "repository not found", "correct the address, or give credentials: if it is private")
	case errors.As(err, new(*knownhosts.KeyError)), errors.As(err, new(*knownhosts.RevokedError)):
		return s.fail(ErrAuth, "the host's key is not the one in known_hosts, or is not there", "verify the key and add it to ~/.ssh/known_hosts")
	case strings.Contains(err.Error(), "ssh: unable to authenticate"): // x/crypto/ssh has no type for it
		return s.fail(ErrAuth, "no key is accepted", "set ssh_key in credentials:, or load a key into the ssh agent")
	case errors.As(err, &unknown):
		err = unknown.Err // without the URL
	}
	return s.fail(ErrUnreachable, s.safe(err), "check address and network")
}

// saysAbsent reports whether a host says that there is no such repository, or none to be seen.
func saysAbsent(text string) bool {
	return slices.ContainsFunc([]string{
		"Repository not found.", "repository does not exist", "Repository does not exist",
		"does not appear to be a git repository", "no such repository", "access denied or repository not exported",
		"The project you were looking for could not be found",
	}, func(said string) bool { return strings.Contains(text, said) })
}

// safe returns the text of a foreign error without secrets.
func (s *wireSource) safe(err error) string { return redactText(err.Error(), s.remote, s.access) }
