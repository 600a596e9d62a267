package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/access"
	"github.com/repoglot/repoglot/catalog/store/internal/files"
	"github.com/repoglot/repoglot/catalog/store/internal/history"
	"github.com/repoglot/repoglot/catalog/store/internal/recount"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

type (
	changesReader = history.Reader
	filesReader   = files.Reader
)

// Snapshot is one state of the database. All answers made from it are consistent
// and belong to one generation. It must not be used by two goroutines at once, nor
// after the function that received it has returned.
type Snapshot struct {
	*changesReader
	*filesReader

	db *DB
	s  *sqldb.Session

	generation         int64 // 0: not read
	public, configured int64 // read with it
	history            string
}

// Read calls fn with a snapshot and returns the error of fn unchanged. Reads
// neither wait for steps nor delay them. At most Options.Readers run at once. SQLite's
// write-ahead log grows while one lasts that began before a step.
func (db *DB) Read(ctx context.Context, fn func(ctx context.Context, s *Snapshot) error) error {
	err := db.pools.Readers.Transact(ctx, func(s *sqldb.Session) error {
		s.Reading = sqldb.NewReading(db.generations.projectOf)
		defer func() { s.Reading = nil }()
		if err := fn(ctx, &Snapshot{changesReader: history.NewReader(s, db.spans), filesReader: files.NewReader(s, db.codec), db: db, s: s}); err != nil {
			return sqldb.Reported(err)
		}
		return nil
	})
	err = db.fail(ctx, "read", err)
	if !errors.Is(err, sqldb.ErrUnavailable) && ctx.Err() == nil {
		db.reached.Store(db.now().UnixNano())
	}
	return sqldb.UnwrapReported(err)
}

// ask returns what is read in a transaction that no answer depends on, op for errors.
func ask[T any](ctx context.Context, db *DB, op string, read func(s *sqldb.Session) (T, error)) (value T, err error) {
	err = db.pools.Readers.Transact(ctx, func(s *sqldb.Session) (err error) {
		value, err = read(s)
		return err
	})
	return value, db.fail(ctx, op, err)
}

// Get returns what one method of a snapshot reads of what arg names.
func Get[A, T any](ctx context.Context, db *DB, read func(*Snapshot, context.Context, A) (T, error), arg A) (value T, err error) {
	err = db.Read(ctx, func(ctx context.Context, s *Snapshot) (err error) {
		value, err = read(s, ctx, arg)
		return err
	})
	return value, err
}

// Readers is how many reads may run at once.
func (db *DB) Readers() int { return db.pools.Readers.Size() }

// reachedLately is how long an answer that was made before may be given without asking
// the database: as long as a watch may take to learn of a generation.
const reachedLately = 2 * time.Second

// Reached reports whether the database answered lately, so that kept answers may be
// given. A watch asks it often enough. A file of SQLite does not go away.
func (db *DB) Reached() bool {
	return db.sql.Dialect.Sqlite || db.now().UnixNano()-db.reached.Load() <= int64(reachedLately)
}

// Access reads tokens and sessions.
func (s *Snapshot) Access() *access.Reader { return access.NewReader(s.s, s.db.now) }

// Generation is the number of the newest step or change of settings in the
// snapshot; 0 for an empty database.
func (s *Snapshot) Generation(ctx context.Context) (int64, error) {
	s.s.Reading.Note() // also for the caches, whose keys have it
	return s.currentGeneration(ctx)
}

func (s *Snapshot) currentGeneration(ctx context.Context) (int64, error) {
	if s.generation > 0 {
		return s.generation, nil
	}
	s.s.Reading.Begin() // the number alone says nothing
	defer s.s.Reading.End()
	err := s.s.Query(ctx, `SELECT generation, configured, public, history FROM clock WHERE one = 1`, nil, func(scan sqldb.Scan) error {
		return scan(&s.generation, &s.configured, &s.public, &s.history)
	})
	return s.generation, s.s.Fail(ctx, "read the generation", err)
}

// ChangeQuery selects entries of a list of changes.
type ChangeQuery = history.Query

// Commit is what one commit did, and CommitPart what it did in a translation.
type (
	Commit     = history.Commit
	CommitPart = history.CommitPart
)

// Changes returns entries in the order of their ids. Cost depends on Limit, not
// on Offset, AfterID or the length of the list.
func (s *Snapshot) Changes(ctx context.Context, q ChangeQuery) ([]catalog.Change, error) {
	c, err := s.ChangeList(ctx, q)
	if err != nil {
		return nil, err
	}
	return c.Page(ctx, q.Offset, q.Limit)
}

// Count returns how many entries Changes would return without Offset and Limit.
func (s *Snapshot) Count(ctx context.Context, q ChangeQuery) (int64, error) {
	c, err := s.ChangeList(ctx, q)
	return c.Count(), err
}

// Mismatch is a number in the database that differs from its recount.
type Mismatch = recount.Mismatch

// Verify recounts everything that is kept as a sum or was derived once, in this snapshot. It
// calls each for every difference, and returns what it has read.
func (s *Snapshot) Verify(ctx context.Context, each func(Mismatch)) (recount.Verified, error) {
	return recount.Run(ctx, s.s, s.db.codec, s.db.spans, each)
}

// File is the current content of a translation's file.
type File = files.File

// StoredFile describes a translation's stored file, without its bytes.
type StoredFile = files.Stored

// Pieces is how a file is cut into pieces.
type Pieces = files.Pieces

// FileDifference is a part of a file that differs from the stored version.
type FileDifference = files.Difference

// CutFile returns the pieces of a file, nil if it is stored whole.
func CutFile(data []byte) *Pieces { return files.Cut(data) }

func (tx *StepTx) files() *files.Writer { return files.NewWriter(tx.s, tx.db.codec) }

// PutFile replaces the stored file of a translation. It writes nothing if Blob and
// Modified are unchanged and Data is there.
func (tx *StepTx) PutFile(ctx context.Context, f File) error {
	changed := false
	_, err := tx.componentOf(ctx, f.TranslationID)
	if err == nil {
		changed, err = tx.files().Put(ctx, &f)
	}
	if err == nil && changed {
		err = tx.markChanged(ctx, f.TranslationID)
	}
	return tx.fail(ctx, fmt.Sprintf("store file of translation %d", f.TranslationID), err)
}

// LaterFiles returns the files of a component whose Data are to follow, by translation.
func (tx *StepTx) LaterFiles(ctx context.Context, component int64) ([]File, error) {
	return tx.files().Later(ctx, component)
}

// File returns the stored file of a translation, or ErrNotFound.
func (tx *StepTx) File(ctx context.Context, translationID int64) (File, error) {
	f, err := tx.files().StoredUnder(ctx, translationID)
	return f, tx.fail(ctx, fmt.Sprintf("read file of translation %d", translationID), err)
}
