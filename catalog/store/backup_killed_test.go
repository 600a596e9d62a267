package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/catalog/store/transfer"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// backupAt begins a value of crashAtEnv: the process writes a backup beside the database
// and dies at a call of its context with this number; 0: it lives and prints the number
// of calls.
const backupAt = "backup "

// mortal is a context at one of whose calls the process dies by SIGKILL.
type mortal struct {
	context.Context
	killAt, asked atomic.Int64
}

func (m *mortal) Done() <-chan struct{} { m.count(); return m.Context.Done() }
func (m *mortal) Err() error            { m.count(); return m.Context.Err() }
func (m *mortal) Value(key any) any     { m.count(); return m.Context.Value(key) }

func (m *mortal) count() {
	if m.asked.Add(1) != m.killAt.Load() {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // until the signal arrives
}

// dieInBackup never returns.
func dieInBackup(path, place string) {
	n, err := strconv.ParseInt(place, 10, 64)
	if err != nil {
		panic(err)
	}
	m := &mortal{Context: context.Background()}
	m.killAt.Store(n)
	if _, err := transfer.WriteBackup(m, path, path+".backup"); err != nil {
		panic(err)
	}
	fmt.Println(m.asked.Load())
	os.Exit(0)
}

// TestKilledBackup kills processes that write a backup. What has its name is complete;
// the database is as it was; the next backup succeeds and holds all of it.
func TestKilledBackup(t *testing.T) {
	t.Parallel()
	pgtest.SQLiteOnly(t, "backups are of files")
	path := filepath.Join(t.TempDir(), "repoglot.db")
	db := openAt(t, path)
	configure(t, db, "app")
	step(t, db, info(0, 1, 1), writeAll)
	want := dump(t, db)
	gittest.Must(t, db.Close())
	run := func(place int64) (asked int64, killed bool) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), crashEnv+"="+path, fmt.Sprintf("%s=%s%d", crashAtEnv, backupAt, place))
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) && !exit.Exited() {
			return 0, true
		}
		gittest.Must(t, err)
		asked, err = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		gittest.Must(t, err)
		return asked, false
	}
	places, _ := run(0)
	gittest.Must(t, os.Remove(path+".backup"))
	kills, died := int64(testsize.Of(3, 8, 30)), 0
	for n := range kills {
		if _, killed := run(1 + n*places/kills); killed {
			died++
		}
		if _, err := os.Stat(path + ".backup"); err == nil {
			_, err := transfer.CheckBackup(t.Context(), path+".backup")
			gittest.Must(t, err)
			gittest.Must(t, os.Remove(path+".backup"))
		}
	}
	_, err := transfer.WriteBackup(t.Context(), path, path+".backup")
	gittest.Must(t, err)
	for _, name := range []string{path, path + ".backup"} {
		db := openAt(t, name)
		if diff := cmp.Diff(want, dump(t, db)); diff != "" {
			t.Errorf("%s (-before +after):\n%.2000s", name, diff)
		}
		gittest.Must(t, db.Close())
	}
	t.Logf("%d of %d killed, %d places", died, kills, places)
	if died < int(kills)/2 {
		t.Errorf("only %d of %d were killed", died, kills)
	}
}
