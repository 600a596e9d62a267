package store

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// testCopy is the configuration of the tests' clusters.
var testCopy = cluster.Configuration{Fingerprint: "first"}

// clusterOf opens a database twice, as two processes do, with the branches
// "PROJECT HOST NAME".
func clusterOf(t *testing.T, branches ...string) (one, two *DB) {
	t.Helper()
	pgtest.PostgresOnly(t, "SQLite has one process")
	path := filepath.Join(t.TempDir(), "x.db")
	one, two = openAt(t, path), openAt(t, path)
	adopt(t, one, testCopy, branches...)
	return one, two
}

func adopt(t testing.TB, db *DB, c cluster.Configuration, branches ...string) cluster.Configuration {
	t.Helper()
	var list []cluster.Mirror
	for _, b := range branches {
		project, rest, _ := strings.Cut(b, " ")
		host, _, _ := strings.Cut(rest, " ")
		list = append(list, cluster.Mirror{Branch: b, Project: project, Host: host})
	}
	newest, err := db.Cluster().Adopt(t.Context(), c, list)
	if err != nil {
		t.Fatal(err)
	}
	return newest
}

// room is what a process without local repositories can pull; a lease with a
// negative length has expired.
func room(process string, length time.Duration) *cluster.Room {
	return &cluster.Room{Process: process, Configuration: testCopy.Fingerprint, Length: length, PerHost: 4}
}

// take takes the lease of a branch, if one is free.
func take(t *testing.T, db *DB, r *cluster.Room) (cluster.Lease, bool) {
	t.Helper()
	l, ok, err := db.Cluster().Take(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return l, ok
}

// TestAuthorsOfTwoProcesses: two processes meet authors, and authors of one name, at the
// same moment and in opposite order, for the first time and with earlier commits. All
// steps are stored.
func TestAuthorsOfTwoProcesses(t *testing.T) {
	one, two := clusterOf(t)
	other := spec("q", "app")
	other.Branch = "other"
	if err := one.Configure(t.Context(), projectsNamed("p", "q"), []ComponentSpec{spec("p", "app"), other}, nil); err != nil {
		t.Fatal(err)
	}
	for round, at := range []time.Time{day(9), day(5)} {
		met, metToo, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		second := info(round, round+1, 2)
		second.Branch = "other"
		meet := func(ctx context.Context, tx *StepTx, name, email string, at time.Time) error {
			author, err := tx.User(ctx, name, email, at)
			if err != nil {
				return err
			}
			return tx.AddDelta(ctx, Delta{ComponentID: tx.info.Components[0], AuthorID: author, Entries: []Entry{{Action: catalog.ActionHook}}})
		}
		go func() {
			_, err := two.Step(t.Context(), second, func(ctx context.Context, tx *StepTx) error {
				<-met
				first := meet(ctx, tx, "Bob", "robert@example.org", at)
				err := errors.Join(first, meet(ctx, tx, "Cid", "cid@example.org", at))
				close(metToo)
				return errors.Join(err, meet(ctx, tx, "Ann", "ann@example.org", at.Add(-time.Hour)))
			})
			done <- err
		}()
		step(t, one, info(round, round+1, 1), func(ctx context.Context, tx *StepTx) error {
			err := meet(ctx, tx, "Ann", "ann@example.org", at)
			close(met)
			<-metToo
			return errors.Join(err, meet(ctx, tx, "Cid", "cid@example.org", at.Add(-time.Hour)), meet(ctx, tx, "Bob", "bob@example.org", at))
		})
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		read(t, one, func(ctx context.Context, s *Snapshot) error {
			for name, joined := range map[string]time.Time{"ann": at.Add(-time.Hour), "cid": at.Add(-time.Hour), "bob": at, "bob-2": at} {
				u, err := s.User(ctx, name)
				if err != nil || !u.Joined.Equal(joined) {
					t.Errorf("round %d: %s joined at %v, want %v: %v", round, name, u.Joined, joined, err)
				}
			}
			var authors, credited int64
			_, err := s.s.First(ctx, `SELECT COUNT(*), (SELECT COUNT(DISTINCT author_id) FROM deltas WHERE author_id > 0) FROM users`, nil, &authors, &credited)
			if authors != 4 || credited != 4 {
				t.Errorf("round %d: %d authors, %d of them with entries", round, authors, credited)
			}
			return err
		})
	}
}

// TestFence: what a pull writes whose lease another process has taken changes
// nothing, and nobody takes the lease while a transaction of the pull runs.
func TestFence(t *testing.T) {
	one, two := clusterOf(t, "p h a")
	if err := one.Configure(t.Context(), projectsNamed("p"), []ComponentSpec{spec("p", "app")}, nil); err != nil {
		t.Fatal(err)
	}
	lease, _ := take(t, one, room("1", -time.Second))
	ctx := cluster.WithFence(t.Context(), lease.Fence)
	step := func(from, to int, during func()) error {
		_, err := one.Step(ctx, info(from, to, 1), func(ctx context.Context, tx *StepTx) error {
			during()
			_, _, err := fill(ctx, tx, 1, "en", 3, nil)
			return err
		})
		return err
	}
	if err := step(0, 1, func() {
		if got, ok := take(t, two, room("2", time.Hour)); ok {
			t.Errorf("%q was taken during a transaction", got.Branch)
		}
		if held, err := one.Cluster().Renew(t.Context(), &lease, -time.Second); err != nil || !held {
			t.Errorf("not renewed during a transaction: %v", err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if _, ok := take(t, two, room("2", time.Hour)); !ok {
		t.Fatal("nobody goes on")
	}
	before := one.Published()
	if err := step(1, 2, func() { t.Error("a step without a lease begins") }); !errors.Is(err, cluster.ErrFenced) {
		t.Errorf("a step without a lease: %v", err)
	}
	if _, err := one.AddComponents(ctx, []ComponentSpec{spec("p", "other")}); !errors.Is(err, cluster.ErrFenced) {
		t.Errorf("components without a lease: %v", err)
	}
	if one.Published() != before {
		t.Error("something changed")
	}
}

// TestCommitFails: a commit whose connection is gone is an error, and the next
// transaction has another connection.
func TestCommitFails(t *testing.T) {
	one, _ := clusterOf(t, "p h a")
	var conn *sqldb.PostgresConnection
	beforeCommit(one, func() {
		if conn != nil {
			_ = conn.Conn.Conn().Close()
		}
	})
	write := func(fail bool) error {
		return one.write(t.Context(), func(s *sqldb.Session) error {
			if conn = nil; fail {
				conn = s.Conn.(*sqldb.PostgresConnection)
			}
			return s.Do(t.Context(), `UPDATE mirrors SET problem = 'x'`)
		})
	}
	if err := write(true); err == nil {
		t.Error("a commit without a connection succeeds")
	}
	if state, err := one.Cluster().State(t.Context()); err != nil || state.Mirrors[0].Problem != "" {
		t.Errorf("something was stored: %v", err)
	}
	if err := write(false); err != nil {
		t.Error(err)
	}
}

// TestFencedConfiguration: an older copy of the configuration, started again, stores nothing.
func TestFencedConfiguration(t *testing.T) {
	one, two := clusterOf(t)
	adopt(t, two, cluster.Configuration{Fingerprint: "sixth", Revision: 3})
	stale := cluster.WithFence(t.Context(), cluster.Fence{Configuration: testCopy.Fingerprint})
	if err := one.Configure(stale, projectsNamed("p"), nil, nil); !errors.Is(err, cluster.ErrFenced) {
		t.Errorf("an older copy is stored: %v", err)
	}
	if err := one.SetBots(stale, []string{"bot"}); !errors.Is(err, cluster.ErrFenced) {
		t.Errorf("the programs of an older copy are stored: %v", err)
	}
	if err := one.Configure(cluster.WithFence(t.Context(), cluster.Fence{Configuration: "sixth"}), projectsNamed("p"), nil, nil); err != nil {
		t.Error(err)
	}
}
