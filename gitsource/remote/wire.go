package remote

import (
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
	"github.com/repoglot/repoglot/gitsource/object"
)

// wireSource speaks git's protocol: over HTTP with go-git's client, over ssh and
// to git daemons with a stream. The client is made for each call and is not
// registered, since go-git's table of protocols is global.
type wireSource struct{ client }

// conversation is a connection to a remote's git-upload-pack, which has listed
// its refs.
type conversation interface {
	capabilities() (*capability.List, error)
	shallow() []object.Hash
	upload(ctx context.Context, req *packp.UploadPackRequest) (io.ReadCloser, error)
	close()
}

// connect begins a conversation.
func (s *wireSource) connect(ctx context.Context) (conversation, error) {
	e, err := parseEndpoint(s.remote.URL)
	if err != nil {
		return nil, err
	}
	if e.scheme == "ssh" || e.scheme == "git" {
		return s.open(ctx, e, nil)
	}
	ep, err := transport.NewEndpoint(e.clean())
	if err != nil {
		return nil, err
	}
	client, basic, finish := s.httpClient(e)
	gate := &gate{}
	client.Transport = gated{base: client.Transport, gate: gate}
	var auth transport.AuthMethod
	if basic != nil {
		auth = basic
	}
	up, err := githttp.NewClient(client).NewUploadPackSession(ep, auth)
	if err != nil {
		finish()
		return nil, err
	}
	refs, err := up.AdvertisedReferencesContext(ctx)
	if err != nil {
		_ = up.Close()
		finish()
		return nil, err
	}
	return &exchange{up: up, refs: refs, gate: gate, finish: finish}, nil
}

// exchange is a conversation over HTTP, made by go-git.
type exchange struct {
	up     transport.UploadPackSession
	refs   *packp.AdvRefs
	gate   *gate
	finish func()
}

func (x *exchange) capabilities() (*capability.List, error) { return x.refs.Capabilities, nil }

func (x *exchange) shallow() []object.Hash { return hashes(x.refs.Shallows) }

func (x *exchange) upload(ctx context.Context, req *packp.UploadPackRequest) (io.ReadCloser, error) {
	answer, err := x.up.UploadPack(ctx, req)
	if err == nil {
		x.gate.open()
		return answer, nil
	}
	if x.gate.full() {
		return nil, object.LimitError(fmt.Sprintf("it sends more than %d MiB before a pack", maxHeld>>20))
	}
	return nil, err
}

// gate bounds the part of an answer that go-git keeps in memory: all that comes
// before the pack. Use by one goroutine at a time.
type gate struct{ body *io.LimitedReader }

// open ends the bound: the pack is bounded where it is stored.
func (g *gate) open() {
	if g.body != nil {
		g.body.N = math.MaxInt64
	}
}

func (g *gate) full() bool { return g.body != nil && g.body.N <= 0 }

// gated puts a gate into answers that have a pack.
type gated struct {
	base http.RoundTripper
	gate *gate
}

// RoundTrip sends a request and bounds the answer.
func (t gated) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.base.RoundTrip(req)
	if err == nil && strings.HasSuffix(req.URL.Path, "/git-upload-pack") {
		t.gate.body = &io.LimitedReader{R: res.Body, N: maxHeld}
		res.Body = endingBody{t.gate.body, res.Body}
	}
	return res, err
}

func (x *exchange) close() {
	_ = x.up.Close()
	x.finish()
}

// httpClient returns a client for an HTTP address; auth is nil without
// credentials. finish closes its connections.
func (s *wireSource) httpClient(e endpoint) (c *http.Client, auth *githttp.BasicAuth, finish func()) {
	if s.access.user != "" || s.access.password != "" {
		auth = &githttp.BasicAuth{Username: s.access.user, Password: s.access.password}
	}
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, ResponseHeaderTimeout: s.silence,
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

// RoundTrip removes the Authorization header from requests to other origins, and
// bounds lists of refs.
func (t sameOrigin) RoundTrip(req *http.Request) (*http.Response, error) {
	if (req.URL.Host != t.host || req.URL.Scheme != t.scheme) && req.Header.Get("Authorization") != "" {
		req = req.Clone(req.Context())
		req.Header.Del("Authorization")
	}
	res, err := t.base.RoundTrip(req)
	if err == nil && strings.HasSuffix(req.URL.Path, "/info/refs") {
		res.Body = endingBody{io.LimitReader(res.Body, maxHeld+1), res.Body}
	}
	return res, err
}

// maxHeld bounds the bytes of a list of refs that go-git keeps in memory: half a
// million refs.
const maxHeld = 32 << 20

// endingBody is a body that ends where its Reader ends.
type endingBody struct {
	io.Reader
	io.Closer
}

func (s *wireSource) Tip(ctx context.Context) (object.Head, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*s.silence)
	defer cancel()
	e, err := parseEndpoint(s.remote.URL)
	if err != nil {
		return object.Head{}, s.describe(err)
	}
	if e.scheme == "http" || e.scheme == "https" {
		head, err := s.httpTip(ctx, e)
		return head, s.describe(err)
	}
	c, err := s.open(ctx, e, nil)
	if err != nil {
		return object.Head{}, s.describe(err)
	}
	defer c.close()
	return s.choose(c.found.refs)
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
	if len(refs.References) == 0 {
		return object.Head{}, s.fail(ErrEmptyRepository, "", "push a first commit")
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
	if len(same) > 0 {
		return same[0]
	}
	return object.Detached
}

func (s *wireSource) Transfer(ctx context.Context, gitDir string, tip object.Head, have []object.Hash) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := time.AfterFunc(2*s.silence, cancel) // go-git's own reads included
	defer timer.Stop()
	c, err := s.connect(ctx)
	if err != nil {
		return s.describe(err)
	}
	defer c.close()
	timer.Reset(2 * s.silence)
	caps, err := c.capabilities()
	if err != nil {
		return s.describe(err)
	}
	if err := object.WriteShallow(gitDir, c.shallow()); err != nil {
		return err
	}
	req := packp.NewUploadPackRequestFromCapabilities(caps)
	if caps.Supports(capability.NoProgress) {
		if err := req.Capabilities.Set(capability.NoProgress); err != nil {
			return s.describe(err)
		}
	}
	req.Wants = []plumbing.Hash{plumbing.Hash(tip.Hash)}
	for _, h := range have {
		req.Haves = append(req.Haves, plumbing.Hash(h))
	}
	if req.IsEmpty() {
		return nil // everything is there
	}
	answer, err := c.upload(ctx, req)
	if errors.Is(err, transport.ErrEmptyUploadPackRequest) {
		return nil
	}
	if err != nil {
		return s.describe(errors.Join(ctx.Err(), err))
	}
	defer answer.Close()
	timer.Reset(s.silence)
	pack := &timedReader{r: demux(req.Capabilities, answer), timer: timer, patience: s.silence}
	return s.received(ctx, pack, object.Receive(ctx, gitDir, pack, s.limits.Within(gitDir)))
}

// received finds out whether the disk, the remote or the mirror is to blame for a
// pack that was not stored.
func (s *wireSource) received(ctx context.Context, pack *timedReader, err error) error {
	var disk *os.PathError
	var limit object.LimitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &disk):
		return fmt.Errorf("store what was fetched: %w; check data_dir and its free space", err)
	case pack.err != nil || ctx.Err() != nil:
		return s.describe(errors.Join(pack.err, ctx.Err()))
	case errors.As(err, &limit):
		return s.fail(object.ErrTooLarge, s.safe(err), "use a smaller repository, or raise the limit; git: binary has room for larger objects")
	case errors.Is(err, object.ErrHarmful):
		return s.fail(ErrUnreachable, mayHarm+s.safe(err), "run git fsck there")
	case object.Damaged(err):
		return err
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

// timedReader resets a timer with each read that brings something.
type timedReader struct {
	r        io.Reader
	timer    *time.Timer
	patience time.Duration
	err      error // why reading ended, unless with io.EOF
}

// Read reads from r.
func (l *timedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if n > 0 {
		l.timer.Reset(l.patience)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}

// describe makes an *Error of an error of a transport.
func (s *wireSource) describe(err error) error {
	var unknown *url.Error
	var unexpected *plumbing.UnexpectedError
	var remote *Error
	if errors.As(err, &unexpected) { // of go-git, which does not unwrap
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
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return s.fail(ErrAuth, s.safe(err), "check credentials: for this host")
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return s.fail(ErrUnreachable, "repository not found", "correct the address, or give credentials: if it is private")
	case isHostKeyError(err):
		return s.fail(ErrAuth, "the host's key is not the one in known_hosts, or is not there", "verify the key and add it to ~/.ssh/known_hosts")
	case isSSHAuthError(err):
		return s.fail(ErrAuth, "no key is accepted", "set ssh_key in credentials:, or load a key into the ssh agent")
	case errors.As(err, &unknown):
		err = unknown.Err // without the URL
	}
	return s.fail(ErrUnreachable, s.safe(err), "check address and network")
}

// safe returns the text of a foreign error without secrets.
func (s *wireSource) safe(err error) string { return redactText(err.Error(), s.remote, s.access) }
