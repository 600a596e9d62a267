package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/cmd/repoglot/server"
)

// smallDisk is a tablespace on a disk of its own, which can be full.
type smallDisk struct {
	t      *testing.T
	filler string
}

// newSmallDisk makes the tablespace "small". Only root may mount.
func newSmallDisk(t *testing.T, size string) *smallDisk {
	t.Helper()
	if os.Getenv(pgtest.ServerVariable) != "" {
		t.Skip("the server is not ours")
	}
	server := pgtest.DSN(t, "the server")
	u, err := url.Parse(server)
	must(t, err)
	owner, err := os.Stat(u.Query().Get("host"))
	must(t, err)
	user := owner.Sys().(*syscall.Stat_t)
	dir, err := os.MkdirTemp("", "disk")
	must(t, err)
	t.Cleanup(func() { must(t, os.Remove(dir)) })
	err = syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%s,uid=%d,gid=%d,mode=700", size, user.Uid, user.Gid))
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root may make a small disk")
	}
	must(t, err)
	t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
	pgtest.Run(t, server, fmt.Sprintf("CREATE TABLESPACE small LOCATION '%s'", dir))
	t.Cleanup(func() { pgtest.Run(t, server, "DROP TABLESPACE small") })
	return &smallDisk{t: t, filler: filepath.Join(dir, "filler")}
}

// fill fills the disk.
func (d *smallDisk) fill() {
	d.t.Helper()
	f, err := os.Create(d.filler)
	must(d.t, err)
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
	must(d.t, f.Close())
}

// free makes room again.
func (d *smallDisk) free() {
	d.t.Helper()
	must(d.t, os.Remove(d.filler))
}

// TestClusterFullDatabase: while the disk of PostgreSQL is full, answers go on, pullers
// say why they pause, and no repository is blamed. When there is room, everything that
// was pushed becomes visible by itself, once.
func TestClusterFullDatabase(t *testing.T) { // alone: it mounts
	if testing.Short() {
		t.Skip("it takes 5 s")
	}
	disk := newSmallDisk(t, "64m")
	c := newTestedCluster(t, 3, 2_000, testLease)
	c.dsn += "&default_tablespace=small"
	f := &faults{testedCluster: c, polled: &poller{targets: map[string]int{}, rounds: map[int]int{}}, count: map[string]int{}, longest: map[string]time.Duration{}}
	f.readers = append(f.readers, c.start(server.WorkAnswer))
	f.pullers = append(f.pullers, c.start(server.WorkPull), c.start(server.WorkPull))
	reader := f.readers[0]
	f.visible("the start", reader)
	before := reader.strings(0)
	disk.fill()
	f.push(0)
	f.push(1)
	shows := func(m *member, problem bool) {
		t.Helper()
		var ready clusterReadiness
		if !until(func() bool {
			ready = clusterReadiness{}
			return m.get("/readyz", &ready) && (ready.Process.Problem == store.ErrFull.Error()) == problem
		}) {
			t.Errorf("problem %v: /readyz of %s: %+v", problem, m.name, ready)
		}
	}
	for _, m := range f.pullers {
		shows(m, true)
		if !until(func() bool {
			text := m.child.err.String()
			return strings.Contains(text, "pauses its pulls") && strings.Contains(text, store.ErrFull.Error())
		}) {
			t.Errorf("the log does not say it:\n%s", m.child.err.String())
		}
	}
	if !until(func() bool { return strings.Contains(string(f.jobs("text")), "disk of the server is full") }) {
		t.Errorf("jobs:\n%s", f.jobs("text"))
	}
	if n := reader.strings(0); n != before {
		t.Errorf("%d strings are shown, not %d", n, before)
	}
	pgtest.Run(t, c.dsn, `DO $$ DECLARE began TIMESTAMPTZ = clock_timestamp(); BEGIN
		WHILE (SELECT MAX(token) < 6 FROM mirrors) LOOP
			ASSERT clock_timestamp() < began + INTERVAL '1 min', 'it is not tried again';
			PERFORM pg_sleep(0.01);
		END LOOP;
		ASSERT (SELECT MAX(failures) = 0 FROM mirrors), 'the repositories are blamed';
	END $$`)
	disk.free()
	f.recover("a full disk of the database")
	for _, m := range f.pullers {
		shows(m, false)
	}
	f.check()
	var failures struct{ Count int }
	if !reader.get("/api/changes/?action=22", &failures) || failures.Count != 0 {
		t.Errorf("%d entries say that a repository failed", failures.Count)
	}
	pgtest.Run(t, c.dsn, `DO $$ BEGIN ASSERT (SELECT COUNT(*) = 0 FROM mirrors WHERE problem <> ''), 'a problem stays'; END $$`)
}
