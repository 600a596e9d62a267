package ingest

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// FailureOf is what is stored of the error of a pull or a push of a repository. Its words
// have no path of this machine.
func FailureOf(err error, repo string, at time.Time) catalog.Failure {
	if err == nil {
		return catalog.Failure{}
	}
	words := err.Error()
	if path, local := repourl.IsLocal(repo); local && path != "" { // a blank in it would end it
		words = strings.ReplaceAll(words, path, "the repository")
	}
	return store.StoredFailure(catalog.Failure{Kind: KindOf(err), Words: words, Since: at})
}

// KindOf is the kind of an error of a pull, or of a push without its forge.
func KindOf(err error) catalog.FailureKind {
	var quota *errQuota
	var disk *fs.PathError
	var room *errRoom
	switch is := func(kind error) bool { return errors.Is(err, kind) }; {
	case is(context.DeadlineExceeded):
		return catalog.FailureTimedOut
	case errors.As(err, &quota), is(object.ErrTooLarge), is(store.ErrTooMuch):
		return catalog.FailureTooLarge
	case is(remote.ErrAuth), is(remote.ErrDeclined):
		return catalog.FailureRefused
	case is(remote.ErrUnreachable):
		return catalog.FailureUnreachable
	case is(remote.ErrBranchMissing), is(remote.ErrEmptyRepository):
		return catalog.FailureNoBranch
	case is(remote.ErrMoved):
		return catalog.FailureMoved
	case is(remote.ErrUnsupported):
		return catalog.FailureUnsupported
	case errors.As(err, &room), errors.As(err, &disk), is(store.ErrUnavailable), is(store.ErrFull):
		return catalog.FailureServer
	case object.Damaged(err):
		return catalog.FailureUnreadable
	case is(catalog.ErrInvalid), is(filemask.ErrInvalid):
		return catalog.FailureSettings
	}
	return catalog.FailureOther
}

// errRoom says that the disk has too little room.
type errRoom struct{ error }

// Unwrap returns the error of whoever looked.
func (e *errRoom) Unwrap() error { return e.error }

// hasRoom is an *errRoom if there is too little room on the disk.
func (s *Syncer) hasRoom() error {
	if err := s.room(); err != nil {
		return &errRoom{err}
	}
	return nil
}
