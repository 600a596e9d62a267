package store

import "github.com/repoglot/repoglot/catalog/store/internal/sqldb"

// Options are the settings of Open. The zero value is usable.
type Options = sqldb.Options

var (
	// ErrUnavailable says that the database cannot be used at the moment: the disk is
	// full or fails, another process holds the lock, the file cannot be written.
	// Nothing of the operation was stored and its arguments are not the cause: it can
	// be repeated.
	ErrUnavailable = sqldb.ErrUnavailable
	// ErrAgain is the ErrUnavailable of an operation that can be repeated at once: another
	// process was in its way, or has changed the schema.
	ErrAgain = sqldb.ErrAgain
	// ErrWriting is the ErrUnavailable of an operation that has waited for a transaction of
	// another process, such as a large import, for as long as it may.
	ErrWriting = sqldb.ErrWriting
	// ErrFull is the ErrUnavailable of a database whose disk is full.
	ErrFull = sqldb.ErrFull
	// ErrTooMuch says that a step writes more than StepInfo.MaxBytes.
	ErrTooMuch = sqldb.ErrTooMuch
	// ErrLocked says that another process serves or pulls into the data directory.
	ErrLocked = sqldb.ErrLocked
)

// Lock makes this process the only one that serves or pulls into dir, which is created if
// missing. unlock releases the directory; so does the end of the process, however it ends.
// A second Lock fails at once with ErrLocked, in one line that names the directory, the
// process that holds it and the remedy.
func Lock(dir string) (unlock func() error, err error) { return sqldb.Lock(dir) }
