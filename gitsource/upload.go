package gitsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// Upload is one round of git's smart HTTP protocol (gitprotocol-http(5)), which is stateless.
type Upload struct {
	// Request is the body that the client posted; nil asks for the body of info/refs.
	Request []byte
	// Version is the protocol that the client asked for, 0 to 2.
	Version int
}

// ErrNoGit: a mirror cannot be served: there is no git program, or the Options forbid it.
var ErrNoGit = errors.New("cloning from this server needs the git program")

// UploadPack answers one round of a clone or fetch from the mirror with the git program. It
// gives the history of the branch with the commits of Writer.Show, and neither gives nor tells
// of any other object. The git directory stays until the answer is complete, even if the mirror
// is replaced in the meantime. The error wraps ErrNoGit without the program, ErrNotFetched
// before the first fetch, and ErrBadRequest if Request is not valid.
func (m *Mirror) UploadPack(ctx context.Context, u Upload, w io.Writer) error {
	git, ok := m.opts.Remote.Git()
	if !ok {
		return fmt.Errorf("serve the mirror of %s: %w", m.remote, ErrNoGit)
	}
	dir, head, release, err := m.lease(ctx)
	if err != nil {
		return err
	}
	defer release()
	request, err := parseUpload(u.Request)
	if err != nil {
		return err
	}
	if u.Request != nil && len(u.Request) == 0 {
		return fmt.Errorf("%w: it is empty", ErrBadRequest)
	}
	namespace, tip := derivedTip(dir, head)
	head.Hash = tip
	known, err := request.history(ctx, dir, head)
	if err != nil {
		return fmt.Errorf("serve the mirror of %s: %w", m.remote, err)
	}
	for _, want := range request.wants {
		if !known[want] {
			return refuseWant(w, want)
		}
	}
	if len(request.has) > 0 {
		u.Request = request.knowing(known)
	}
	out := &trackedWriter{w: w}
	err = git.UploadPack(ctx, dir, namespace, u.Request, u.Version, out)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && u.Request != nil && !out.yet && errors.As(err, &exit) && exit.Exited():
		err = fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	return fmt.Errorf("serve the mirror of %s: %w", m.remote, err)
}

// lease keeps the git directory in use on disk until release is called.
func (m *Mirror) lease(ctx context.Context) (dir string, head object.Head, release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err = ctx.Err(); err == nil {
		head, err = m.headLocked()
	}
	if err != nil {
		return "", object.Head{}, nil, err
	}
	name := m.current
	m.readers[name]++
	return filepath.Join(m.dir, name), head, func() { m.release(name) }, nil
}

// trackedWriter knows whether anything was written. If git fails without an answer, the
// request was wrong: other faults are in its answer.
type trackedWriter struct {
	w   io.Writer
	yet bool
}

func (b *trackedWriter) Write(p []byte) (int, error) {
	b.yet = true
	return b.w.Write(p)
}

// ErrBadRequest: what a client posted is no request of git's protocol, or none answered here.
var ErrBadRequest = errors.New("not a request of git's protocol that is understood here")

// maxWants bounds the commits of one request: a client wants the head, or an earlier one.
const maxWants = 16

// uploadRequest is one request of git's protocol, as far as it names objects.
type uploadRequest struct {
	data  []byte
	wants []object.Hash // what the client asks for, each once
	has   []object.Hash // what the client says it has: of the lines "have" and "shallow"
	at    []int         // where the ids of these are in the data
}

// parseUpload reads the pkt-lines (gitprotocol-common(5)) of a request, strictly
// enough to find every line that names an object. Git checks the other lines. The
// commands of version 2 are ls-refs and fetch: others, such as object-info, tell of
// any object. deepen-not is refused, since it resolves refs that are hidden.
func parseUpload(data []byte) (*uploadRequest, error) {
	u := &uploadRequest{data: data}
	for len(data) > 0 {
		line, rest, err := packetLine(data)
		if err == nil {
			err = u.add(line, len(u.data)-len(data))
		}
		if err != nil {
			return nil, err
		}
		data = rest
	}
	return u, nil
}

// add takes the object of a line, whose packet is at a place in the data.
func (u *uploadRequest) add(line string, at int) error {
	if command, ok := strings.CutPrefix(line, "command="); ok && command != "ls-refs" && command != "fetch" {
		return fmt.Errorf("%w: the command %.60q", ErrBadRequest, command)
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "deepen-not":
		return fmt.Errorf("%w: deepen-not is not answered", ErrBadRequest)
	case "want", "have", "shallow":
	default:
		return nil
	}
	id, _, _ := strings.Cut(rest, " ") // capabilities may follow
	h, err := object.ParseHash(id)
	if err != nil {
		return fmt.Errorf("%w: %.60q", ErrBadRequest, line)
	}
	if word != "want" {
		const length = 4 // before the line
		u.has, u.at = append(u.has, h), append(u.at, at+length+len(word)+1)
		return nil
	}
	if !slices.Contains(u.wants, h) {
		u.wants = append(u.wants, h)
	}
	if len(u.wants) > maxWants {
		return fmt.Errorf("%w: more than %d commits are wanted", ErrBadRequest, maxWants)
	}
	return nil
}

// knowing returns the request with an id that no object has in place of all that the
// client says it has, but for known ones. Without these lines git would take the
// negotiation for ended. The id is a constant: one made from the client's could be that of
// a hidden object. Digits may be of either case, as git takes them.
func (u *uploadRequest) knowing(known map[object.Hash]bool) []byte {
	data := bytes.Clone(u.data)
	for i, h := range u.has {
		if !known[h] {
			copy(data[u.at[i]:], object.Hash{}.String())
		}
	}
	return data
}

// packetLine splits off one line, "" for a packet without contents.
func packetLine(data []byte) (line string, rest []byte, err error) {
	const header, longest = 4, 65520
	if len(data) < header {
		return "", nil, fmt.Errorf("%w: it ends in a length", ErrBadRequest)
	}
	n, err := strconv.ParseUint(string(data[:header]), 16, 16)
	switch {
	case err != nil || n == 3 || n > longest:
		return "", nil, fmt.Errorf("%w: %q is no length", ErrBadRequest, data[:header])
	case n < header:
		return "", data[header:], nil
	case uint64(len(data)) < n:
		return "", nil, fmt.Errorf("%w: it ends in a line", ErrBadRequest)
	}
	return strings.TrimSuffix(string(data[header:n]), "\n"), data[n:], nil
}

// history returns those of the objects of a request that are commits in the history of head. A
// mirror has more objects: those from before a force push, and of a local repository those of
// all branches. In version 2 git gives any object to a client that knows its id, no setting
// changes that, and in every version it says which of the client's objects it has.
func (u *uploadRequest) history(ctx context.Context, dir string, head object.Head) (map[object.Hash]bool, error) {
	all := slices.Concat(u.wants, u.has)
	if !slices.ContainsFunc(all, func(h object.Hash) bool { return h != head.Hash }) {
		return map[object.Hash]bool{head.Hash: true}, nil
	}
	r, err := openReader(dir, head, func() {})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	wanted := make(map[object.Hash]bool, len(all))
	for _, h := range all {
		if r.Has(h) {
			wanted[h] = true
		}
	}
	return r.store.InHistory(ctx, head.Hash, wanted)
}

// refuseWant answers as git does. The answer does not tell whether the object exists.
func refuseWant(w io.Writer, want object.Hash) error {
	if want.IsZero() {
		return nil
	}
	line := fmt.Sprintf("ERR upload-pack: not our ref %s: fetch again, the branch may have moved\n", want)
	_, err := fmt.Fprintf(w, "%04x%s", len(line)+4, line)
	return err
}
