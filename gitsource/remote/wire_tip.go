package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/repoglot/repoglot/gitsource/object"
)

const (
	// maxAdvertised bounds the bytes of the list of refs that a remote sends. Here
	// the list is streamed; go-git keeps it in memory when it fetches a pack.
	maxAdvertised = maxHeld
	// maxSameHead bounds the branches that are remembered because they point to
	// HEAD's commit.
	maxSameHead = 1000
)

// httpTip asks an HTTP remote for the branch's commit. If the remote speaks version
// 2 of git's protocol (gitprotocol-v2(5)), it is asked for that branch only,
// otherwise the list of all refs is read. go-git always asks for that list and
// keeps it in memory.
func (s *wireSource) httpTip(ctx context.Context, e endpoint) (object.Head, error) {
	found := newTipSearch(s.remote.Branch)
	prefixes := []string{"HEAD"} // which also tells whether there is any commit
	if s.remote.Branch != "" {
		prefixes = append(prefixes, "refs/heads/"+s.remote.Branch)
	}
	if err := s.httpRefs(ctx, e, found, prefixes); err != nil {
		return object.Head{}, err
	}
	return s.choose(found.refs)
}

// httpRefs lists an HTTP remote's refs with the given prefixes; without version 2
// of the protocol, all refs.
func (s *wireSource) httpRefs(ctx context.Context, e endpoint, found *tipSearch, prefixes []string) error {
	c, auth, finish := s.httpClient(e)
	defer finish()
	ask := func(method, address string, body io.Reader) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, method, address, body)
		if err != nil {
			return nil, err
		}
		req.Header.Set("User-Agent", capability.DefaultAgent())
		req.Header.Set("Git-Protocol", "version=2")
		if body != nil {
			req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
		}
		if auth != nil {
			auth.SetAuth(req)
		}
		res, err := c.Do(req)
		if err != nil {
			return nil, err
		}
		if err := statusError(res.StatusCode); err != nil {
			_ = res.Body.Close()
			return nil, err
		}
		return res, nil
	}
	const tail = "/info/refs"
	base := e.withPath(strings.TrimSuffix(e.path, "/"))
	first := base.withPath(base.path + tail)
	first.query = strings.TrimPrefix(e.query+"&service=git-upload-pack", "&")
	res, err := ask(http.MethodGet, first.clean(), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if err := found.read(res.Body); err != nil {
		return err
	}
	if found.version2 {
		at := *res.Request.URL // after redirects
		at.Path = strings.TrimSuffix(at.Path, tail) + "/git-upload-pack"
		at.RawQuery = e.query
		err := found.ask(ask, at.String(), prefixes...)
		if err == nil && len(found.refs.References) == 0 && found.patterns == nil {
			err = found.ask(ask, at.String(), "refs/heads/")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e endpoint) withPath(path string) endpoint {
	e.path = path
	return e
}

func statusError(status int) error {
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusUnauthorized:
		return transport.ErrAuthenticationRequired
	case http.StatusForbidden:
		return transport.ErrAuthorizationFailed
	case http.StatusNotFound:
		return transport.ErrRepositoryNotFound
	}
	return fmt.Errorf("it answers with HTTP status %d", status)
}

// tipSearch picks the refs that choose needs from a list of refs.
type tipSearch struct {
	branch   string // "": HEAD's
	refs     *packp.AdvRefs
	version2 bool
	stream   bool   // a list ends with a flush packet, not with the answer
	symref   string // the branch that HEAD names
	caps     string // the remote's capabilities, if they are listed with the refs
	same     int

	patterns []BranchPattern // which other branches are wanted
	listed   branchList      // these branches
}

func newTipSearch(branch string) *tipSearch {
	return &tipSearch{branch: branch, refs: packp.NewAdvRefs(), listed: branchList{}}
}

// ask asks in version 2 for the refs with the given prefixes.
func (t *tipSearch) ask(send func(method, address string, body io.Reader) (*http.Response, error), address string, prefixes ...string) error {
	var b strings.Builder
	line := func(s string) { fmt.Fprintf(&b, "%04x%s\n", len(s)+5, s) }
	line("command=ls-refs")
	line("agent=" + capability.DefaultAgent())
	b.WriteString("0001")
	line("symrefs")
	for _, p := range prefixes {
		line("ref-prefix " + p)
	}
	b.WriteString("0000")
	res, err := send(http.MethodPost, address, strings.NewReader(b.String()))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return t.read(res.Body)
}

// read reads an answer of either version.
func (t *tipSearch) read(body io.Reader) error {
	limited := &io.LimitedReader{R: body, N: maxAdvertised}
	return t.lines(bufio.NewReaderSize(limited, 4<<10), limited)
}

// lines reads a list of refs from in, which reads from limited.
func (t *tipSearch) lines(in *bufio.Reader, limited *io.LimitedReader) error {
	var buf []byte
	for lines := 0; ; lines++ {
		line, err := readPacket(in, &buf)
		switch {
		case errors.Is(err, io.EOF) && lines > 0 && limited.N > 0 && !t.stream:
			return nil
		case err == nil && line == nil && t.stream:
			return nil
		case limited.N <= 0:
			return object.LimitError(fmt.Sprintf("it lists more than %d MiB of refs", maxAdvertised>>20))
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		text := strings.TrimSuffix(string(line), "\n")
		switch {
		case text == "" || strings.HasPrefix(text, "# service=") || text == "version 1":
		case text == "version 2":
			t.version2 = true
			return nil
		case strings.HasPrefix(text, "ERR "):
			return errors.New(text[4:])
		default:
			if err := t.ref(text); err != nil {
				return err
			}
		}
	}
}

// readPacket reads one packet (gitprotocol-common(5)). A packet without contents,
// such as a flush packet, is nil.
func readPacket(in *bufio.Reader, buf *[]byte) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 32)
	if err != nil {
		return nil, errors.New("it does not speak git's protocol")
	}
	if n <= 4 {
		return nil, nil
	}
	if cap(*buf) < int(n) {
		*buf = make([]byte, n)
	}
	line := (*buf)[:n-4]
	if _, err = io.ReadFull(in, line); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // an io.EOF ends the list between two packets
	}
	return line, err
}

// ref reads one line: "id name", followed by a NUL and capabilities in version 0,
// and by attributes in version 2.
func (t *tipSearch) ref(text string) error {
	text, caps, listed := strings.Cut(text, "\x00")
	if listed && t.caps == "" {
		t.caps = caps
	}
	for c := range strings.SplitSeq(caps, " ") {
		if target, ok := strings.CutPrefix(c, "symref=HEAD:"); ok {
			t.names(target)
		}
	}
	id, name, _ := strings.Cut(text, " ")
	name, attributes, _ := strings.Cut(name, " ")
	for a := range strings.SplitSeq(attributes, " ") {
		if target, ok := strings.CutPrefix(a, "symref-target:"); ok && name == "HEAD" {
			t.names(target)
		}
	}
	if id == "shallow" {
		id, name = name, ""
	} else if id == "unborn" || name == "capabilities^{}" {
		return nil
	}
	h, err := object.ParseHash(id)
	if err != nil {
		return errors.New("it does not list refs as git does")
	}
	switch name {
	case "": // history ends there
		t.refs.Shallows = append(t.refs.Shallows, plumbing.Hash(h))
		return nil
	case "HEAD":
		head := plumbing.Hash(h)
		t.refs.Head = &head
		if t.version2 && t.symref != "" && object.ValidBranch(t.symref) {
			t.refs.References["refs/heads/"+t.symref] = head
		}
		if t.version2 { // the repository is not empty
			t.refs.References["HEAD"] = head
		}
		return nil
	}
	t.keep(name, plumbing.Hash(h))
	return nil
}

// names remembers the branch that HEAD names.
func (t *tipSearch) names(target string) {
	branch, ok := strings.CutPrefix(target, "refs/heads/")
	if ok && t.symref == "" {
		t.symref = branch
		_ = t.refs.Capabilities.Add(capability.SymRef, "HEAD:"+target)
	}
}

// keep remembers a ref if choose may need it, or if it is the first one.
func (t *tipSearch) keep(name string, h plumbing.Hash) {
	branch, ok := strings.CutPrefix(name, "refs/heads/")
	if ok && t.patterns != nil && len(t.listed) < maxListed && selected(t.patterns, branch) {
		t.listed[branch] = object.Hash(h)
	}
	wanted := ok && (branch == t.branch || t.branch == "" && branch == t.symref)
	if !wanted && ok && t.branch == "" && t.refs.Head != nil && *t.refs.Head == h && t.same < maxSameHead {
		t.same++
		wanted = true
	}
	if wanted || len(t.refs.References) == 0 {
		t.refs.References[name] = h
	}
}
