package gitsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// ErrBadRequest says that the body that a client posted is not a request of git's
// protocol, or not one that is answered here.
var ErrBadRequest = errors.New("not a request of git's protocol that is understood here")

// maxWants bounds the different commits of one request. There is one branch, so a
// client wants its head, or an earlier head.
const maxWants = 16

// parseWants returns the objects that a request in any version of the protocol asks
// for, each once. It reads pkt-lines (gitprotocol-common(5)), strictly enough to find
// every line that asks for an object. Git checks the other lines.
func parseWants(data []byte) (wants []object.Hash, err error) {
	for len(data) > 0 {
		var line string
		if line, data, err = packetLine(data); err != nil {
			return nil, err
		}
		word, rest, _ := strings.Cut(line, " ")
		if word != "want" && word != "have" {
			continue
		}
		h, err := objectID(line, rest)
		if err != nil {
			return nil, err
		}
		if word == "want" && !slices.Contains(wants, h) {
			wants = append(wants, h)
		}
		if len(wants) > maxWants {
			return nil, fmt.Errorf("%w: more than %d commits are wanted", ErrBadRequest, maxWants)
		}
	}
	return wants, nil
}

// objectID reads the id at the start of rest, which capabilities may follow.
func objectID(line, rest string) (object.Hash, error) {
	id, _, _ := strings.Cut(rest, " ")
	h, err := object.ParseHash(id)
	if err != nil {
		return object.Hash{}, fmt.Errorf("%w: %.60q", ErrBadRequest, line)
	}
	return h, nil
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

// outsideHistory returns the first wanted commit that is not in the history of head,
// otherwise zero. A mirror has more objects: those from before a force push, and of a
// local repository those of all branches. In version 2 git gives any object to a
// client that knows its id, and no setting changes that.
func outsideHistory(ctx context.Context, wants []object.Hash, dir string, head object.Head) (object.Hash, error) {
	if !slices.ContainsFunc(wants, func(h object.Hash) bool { return h != head.Hash }) {
		return object.Hash{}, nil
	}
	r, err := openReader(dir, head, func() {})
	if err != nil {
		return object.Hash{}, err
	}
	defer r.Close()
	for _, want := range wants {
		if want == head.Hash {
			continue
		}
		known, err := r.IsAncestor(ctx, want, head.Hash)
		if ctx.Err() != nil {
			return want, ctx.Err()
		}
		if err != nil || !known { // not a commit, or not in the mirror
			return want, nil
		}
	}
	return object.Hash{}, nil
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
