package gitsource

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/revlist"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

const (
	// packWindow is how many objects a delta is looked for in.
	packWindow = 10
	// ownMaxObjects bounds the objects of a mirror that is served without the
	// program: some 1 KiB of memory each, and a second for 5,000.
	ownMaxObjects = 100_000
	// ownMaxObject bounds one of them, as go-git holds whole ones, up to
	// packWindow of them at a time.
	ownMaxObject = 16 << 20
)

// ownUploadPack answers in version 0 with no capabilities: one branch, whole
// histories, no side band. It is for machines without git.
func ownUploadPack(ctx context.Context, dir string, head Head, u Upload, q uploadRequest, w io.Writer) error {
	e := pktline.NewEncoder(w)
	if u.Request == nil {
		if _, err := io.WriteString(w, advertisement); err != nil {
			return err
		}
		return advertise(e, head)
	}
	if len(q.wants) == 0 || q.other != "" {
		return fmt.Errorf("%w: %q is not understood without the program git", ErrUpload, q.other)
	}
	if !q.done {
		return e.EncodeString("NAK\n")
	}
	err := boundedObjects(ctx, dir, ownMaxObjects, ownMaxObject)
	if errors.Is(err, ErrTooLarge) {
		return errors.Join(err, e.EncodeString("ERR this repository is too large to be served without the program git: install it on the server\n"))
	}
	if err != nil {
		return err
	}
	st := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRU(8<<20))
	defer st.Close()
	var wants, common []plumbing.Hash
	for _, h := range q.wants {
		wants = append(wants, h.plumb())
	}
	for _, h := range q.haves {
		if st.HasEncodedObject(h.plumb()) == nil {
			common = append(common, h.plumb())
		}
	}
	objects, err := revlist.Objects(st, wants, common)
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

// boundedObjects is ErrTooLarge for a repository with more objects than most or
// one of more than longest bytes; it reads indexes and headers alone.
func boundedObjects(ctx context.Context, dir string, most int, longest int64) error {
	o := openObjects(dir)
	defer o.close()
	if err := o.list(); err != nil {
		return err
	}
	n := len(o.loose)
	for _, p := range o.packs {
		n += p.index.n
	}
	if n > most {
		return fmt.Errorf("%d objects, %d can be served without the program git: %w", n, most, ErrTooLarge)
	}
	check := func(h Hash) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		size, err := o.size(h)
		if err == nil && size > longest {
			err = fmt.Errorf("%d bytes, %d can be served without the program git: %w", size, longest, ErrTooLarge)
		}
		return objectError("object", h, err)
	}
	for h := range o.loose {
		if err := check(h); err != nil {
			return err
		}
	}
	for _, p := range o.packs {
		for i := range p.index.n {
			if err := check(p.index.name(i)); err != nil {
				return err
			}
		}
	}
	return nil
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
