package gitsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/revlist"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// packWindow is how many objects a delta is looked for in.
const packWindow = 10

// ownUploadPack answers in version 0 with no capabilities: one branch, whole
// histories, no side band. It is for machines without git.
func ownUploadPack(ctx context.Context, dir string, head Head, u Upload, w io.Writer) error {
	e := pktline.NewEncoder(w)
	if u.Request == nil {
		if _, err := io.WriteString(w, advertisement); err != nil {
			return err
		}
		return advertise(e, head)
	}
	q, err := parseUpload(u.Request)
	if err != nil {
		return err
	}
	for _, want := range q.wants {
		if want != plumbing.Hash(head.Hash) {
			return e.Encodef("ERR %s is not the head of the branch: it has moved, fetch again\n", want)
		}
	}
	if !q.done {
		return e.EncodeString("NAK\n")
	}
	st := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRU(8<<20))
	defer st.Close()
	var common []plumbing.Hash
	for _, h := range q.haves {
		if st.HasEncodedObject(h) == nil {
			common = append(common, h)
		}
	}
	objects, err := revlist.Objects(st, q.wants, common)
	if err != nil {
		return fmt.Errorf("list objects: %w", err)
	}
	answer := "NAK\n"
	if n := len(common); n > 0 {
		answer = "ACK " + common[n-1].String() + "\n"
	}
	if err := e.EncodeString(answer); err != nil {
		return err
	}
	_, err = packfile.NewEncoder(untilDone(ctx, w), st, false).Encode(objects, packWindow)
	return err
}

// advertise names the branch.
func advertise(e *pktline.Encoder, head Head) error {
	symref := ""
	if head.Branch != detached {
		symref = "symref=HEAD:refs/heads/" + head.Branch + " "
	}
	if err := e.Encodef("%s HEAD\x00%sagent=repoglot\n", head.Hash, symref); err != nil {
		return err
	}
	if symref != "" {
		if err := e.Encodef("%s refs/heads/%s\n", head.Hash, head.Branch); err != nil {
			return err
		}
	}
	return e.Flush()
}

// uploadRequest is what a client of version 0 posts.
type uploadRequest struct {
	wants, haves []plumbing.Hash
	done         bool
}

var errUpload = errors.New("not a request of git's protocol that is understood here")

func parseUpload(data []byte) (q uploadRequest, err error) {
	s := pktline.NewScanner(bytes.NewReader(data))
	for s.Scan() {
		line := strings.TrimSuffix(string(s.Bytes()), "\n")
		word, rest, _ := strings.Cut(line, " ")
		rest, _, _ = strings.Cut(rest, " ") // capabilities
		switch {
		case word == "": // a flush
		case word == "done":
			q.done = true
		case word == "want" && plumbing.IsHash(rest):
			q.wants = append(q.wants, plumbing.NewHash(rest))
		case word == "have" && plumbing.IsHash(rest):
			q.haves = append(q.haves, plumbing.NewHash(rest))
		default:
			return q, fmt.Errorf("%w: %.20q", errUpload, line)
		}
	}
	if err := s.Err(); err != nil {
		return q, fmt.Errorf("%w: %w", errUpload, err)
	}
	if len(q.wants) == 0 {
		return q, fmt.Errorf("%w: nothing is wanted", errUpload)
	}
	return q, nil
}

// abortable ends an encoding when its context is done.
type abortable func(p []byte) (int, error)

// Write passes on until then.
func (a abortable) Write(p []byte) (int, error) { return a(p) }

func untilDone(ctx context.Context, w io.Writer) io.Writer {
	return abortable(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return w.Write(p)
	})
}
