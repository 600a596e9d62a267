package gitsource

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// ErrBadRequest says that what a client posted is no request of git's protocol, or
// none that is answered here.
var ErrBadRequest = errors.New("not a request of git's protocol that is understood here")

// maxWants bounds the different commits of one request. There is one branch, so
// that a client wants its head, or what was its head a moment ago.
const maxWants = 16

// uploadRequest is what a client posts in any version of the protocol.
type uploadRequest struct {
	wants, haves []object.Hash // without repetitions, as sent
	done         bool
	other        string // the first line of another kind, which only the program understands
}

// parseUpload reads pkt-lines (gitprotocol-common) as strictly as to find every
// line that asks for an object; what else they say is git's to judge.
func parseUpload(data []byte) (q uploadRequest, err error) {
	wants, haves := map[object.Hash]bool{}, map[object.Hash]bool{}
	for len(data) > 0 {
		var line string
		if line, data, err = packetLine(data); err != nil {
			return q, err
		}
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "": // a flush, a delimiter
		case word == "done" && rest == "":
			q.done = true
		case word == "want":
			err = collect(&q.wants, wants, line, rest)
		case word == "have":
			err = collect(&q.haves, haves, line, rest)
		case q.other == "":
			q.other = line[:min(len(line), 40)]
		}
		if err != nil {
			return q, err
		}
		if len(q.wants) > maxWants {
			return q, fmt.Errorf("%w: more than %d commits are wanted", ErrBadRequest, maxWants)
		}
	}
	return q, nil
}

// collect adds the id that rest begins with, before capabilities.
func collect(list *[]object.Hash, seen map[object.Hash]bool, line, rest string) error {
	id, _, _ := strings.Cut(rest, " ")
	var h object.Hash
	if len(id) != 2*len(h) {
		return fmt.Errorf("%w: %.60q", ErrBadRequest, line)
	}
	if _, err := hex.Decode(h[:], []byte(id)); err != nil {
		return fmt.Errorf("%w: %.60q", ErrBadRequest, line)
	}
	if !seen[h] {
		seen[h] = true
		*list = append(*list, h)
	}
	return nil
}

// packetLine cuts off one line, "" for those without contents.
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

// strange is the first wanted commit that is not in the history of head, else
// zero. A mirror holds more than that: what a force push left behind, and of a
// local repository the objects of all branches. In version 2 git itself gives
// whatever it has to who knows the id, and no setting changes that.
func (q *uploadRequest) strange(ctx context.Context, dir string, head object.Head) (object.Hash, error) {
	if !slices.ContainsFunc(q.wants, func(h object.Hash) bool { return h != head.Hash }) {
		return object.Hash{}, nil
	}
	r, err := openReader(dir, head, func() {})
	if err != nil {
		return object.Hash{}, err
	}
	defer r.Close()
	for _, want := range q.wants {
		if want == head.Hash {
			continue
		}
		known, err := r.IsAncestor(ctx, want, head.Hash)
		if ctx.Err() != nil {
			return want, ctx.Err()
		}
		if err != nil || !known { // no commit, or not here
			return want, nil
		}
	}
	return object.Hash{}, nil
}

// refuseWant answers as git does. It does not tell whether there is such an
// object.
func refuseWant(w io.Writer, want object.Hash) error {
	if want.IsZero() {
		return nil
	}
	line := fmt.Sprintf("ERR upload-pack: not our ref %s: fetch again, the branch may have moved\n", want)
	_, err := fmt.Fprintf(w, "%04x%s", len(line)+4, line)
	return err
}
