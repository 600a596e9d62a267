package sqldb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// notifyReaders tells the processes that listen that there is a new generation, when
// the transaction commits. Schemas of one database have channels of their own.
const notifyReaders = `SELECT pg_notify('repoglot_' || current_schema()::regnamespace::oid, '')`

// pullWished is the text of the notification that a branch is due.
const pullWished = "pull"

// NotifyPullers tells them that a branch is due.
const NotifyPullers = `SELECT pg_notify('repoglot_' || current_schema()::regnamespace::oid, '` + pullWished + `')`

const listenToWriters = `DO $$ BEGIN EXECUTE 'LISTEN repoglot_' || current_schema()::regnamespace::oid; END $$`

// Notify wakes the readers in other processes, if the transaction commits. With SQLite
// they find out by themselves.
func (s *Session) Notify(ctx context.Context) error {
	if s.DB.Dialect.Sqlite {
		return nil
	}
	return s.Do(ctx, notifyReaders)
}

// Listen waits for notifications on a connection of its own.
func (e *Postgres) Listen(ctx context.Context, wake, wished func()) {
	for ctx.Err() == nil {
		err := e.listenOnce(ctx, wake, wished)
		if ctx.Err() != nil {
			return
		}
		e.log.Debug("notifications of PostgreSQL are not received; it is tried again", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(listenPause):
		}
	}
}

// listenPause is how long listen waits before it connects again. Meanwhile a Watch
// asks every Options.PollInterval.
const listenPause = time.Second

// listenOnce listens until the connection fails.
func (e *Postgres) listenOnce(ctx context.Context, wake, wished func()) error {
	config := e.Reads.Copy()
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		if n.Payload == pullWished {
			wished()
			return
		}
		wake()
	}
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler { // nothing to cancel
		return &pgconn.DeadlineContextWatcherHandler{Conn: conn.Conn()}
	}
	whole, err := e.dial(ctx, config)
	if err != nil {
		return err
	}
	conn := whole.PgConn()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if err := conn.Exec(ctx, listenToWriters).Close(); err != nil {
		return err
	}
	wake() // there may be news from before
	wished()
	for {
		if err := waitOrProbe(ctx, conn); err != nil {
			return err
		}
	}
}

// FollowTime bounds one look at the database: on a connection that passes nothing on it
// would never end.
const FollowTime = 5 * time.Second

// After probeInterval without a notification the server is asked whether it is there.
const probeInterval = lockLimit / 2

// waitOrProbe waits for a notification.
func waitOrProbe(ctx context.Context, conn *pgconn.PgConn) error {
	waiting, done := context.WithTimeout(ctx, probeInterval)
	err := conn.WaitForNotification(waiting)
	done()
	if err == nil || ctx.Err() != nil || conn.IsClosed() || !pgconn.Timeout(err) {
		return err
	}
	asking, done := context.WithTimeout(ctx, FollowTime)
	defer done()
	return conn.Ping(asking)
}
