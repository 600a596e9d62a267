package store

import (
	"bufio"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// crashEnv makes TestMain a process that begins a step on the database it names
// and then waits to be killed; crashAtEnv says where in the step.
const crashEnv, crashAtEnv = "REPOGLOT_STORE_CRASH_DB", "REPOGLOT_STORE_CRASH_AT"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		crash(path, os.Getenv(crashAtEnv))
	}
	// Each check writes to a disk; -rapid.checks=1000 asks for more.
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// crash never returns: it reports that it is there and waits.
func crash(path, at string) {
	if places, ok := strings.CutPrefix(at, backupAt); ok {
		dieInBackup(path, places)
	}
	reached := func() {
		_, _ = os.Stdout.WriteString("reached\n")
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // until the parent has killed us, or has ended
		os.Exit(3)
	}
	db, err := Open(context.Background(), path, sqldb.Options{})
	if err != nil {
		panic(err)
	}
	if at == "before commit" {
		beforeCommit(db, reached)
	}
	smallCache(db)
	_, err = db.Step(context.Background(), info(1, 2, 1), func(ctx context.Context, tx *StepTx) error {
		err := writeMore(ctx, tx)
		if at == "in the middle" {
			reached()
		}
		return err
	})
	if err != nil {
		panic(err)
	}
	reached() // after commit
}

// smallCache makes SQLite write pages to its log long before the commit.
func smallCache(db *DB) {
	if _, ok := db.sql.Engine.(*sqldb.SQLite); !ok {
		return
	}
	s, err := db.pools.Writer.Acquire(context.Background())
	if err == nil {
		_, err = s.Exec(context.Background(), `PRAGMA cache_size = 64`)
		s.Cache = sqldb.StepCache // so that the step leaves it
	}
	if err != nil {
		panic(err)
	}
	db.pools.Writer.Release(s, true)
}

// writeMore is the step that is killed.
func writeMore(ctx context.Context, tx *StepTx) error {
	if _, err := tx.User(ctx, "Bob", "bob@example.org", day(1)); err != nil {
		return err
	}
	_, source, err := fill(ctx, tx, 1, "fr", 1500, nil)
	if err != nil {
		return err
	}
	id, units, err := fill(ctx, tx, 1, "es", 1500, source)
	if err != nil {
		return err
	}
	return tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: id, Entries: newEntries(units)})
}

// A step that is killed anywhere is stored whole or not at all, and when it is
// repeated it gives the ids of an uninterrupted run.
func TestCrash(t *testing.T) {
	want := openWith(t, "app")
	step(t, want, info(0, 1, 1), writeAll)
	before := dump(t, want)
	step(t, want, info(1, 2, 1), writeMore)
	after := dump(t, want)
	for at, left := range map[string]string{"in the middle": before, "before commit": before, "after commit": after} {
		t.Run(at, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "crash.db")
			db := openAt(t, path)
			configure(t, db, "app")
			step(t, db, info(0, 1, 1), writeAll)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			killAt(t, database(t, path), at)
			if wal, err := os.Stat(path + "-wal"); !pgtest.Chosen() && (err != nil || wal.Size() < 1<<18) {
				t.Errorf("the log that the crash left is too small to prove anything: %v, %v", wal, err)
			}
			db = openAt(t, path)
			if diff := cmp.Diff(left, dump(t, db)); diff != "" {
				t.Fatalf("after the crash (-want +got):\n%.2000s", diff)
			}
			if left != after {
				step(t, db, info(1, 2, 1), writeMore)
			}
			if diff := cmp.Diff(after, dump(t, db)); diff != "" {
				t.Errorf("done again (-uninterrupted +got):\n%.2000s", diff)
			}
		})
	}
}

func killAt(t *testing.T, path, at string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+path, crashAtEnv+"="+at)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if strings.TrimSpace(line) != "reached" {
		t.Errorf("the process said %q: %v", line, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
