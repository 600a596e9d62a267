package ingest_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/testrepos"
)

// daySettings are of a server whose autovacuum looks every second, since the day passes
// quickly; its thresholds are PostgreSQL's.
const daySettings = `
fsync = off
autovacuum_naptime = 1s
`

// TestDayOfPushes pulls as many pushes of a string as REPOGLOT_DAY says, each under a lease
// of its own, and logs how large the tables are meanwhile (docs/scale.md#what-ends-first).
func TestDayOfPushes(t *testing.T) {
	pushes, err := strconv.Atoi(os.Getenv("REPOGLOT_DAY"))
	if err != nil {
		t.Skip("REPOGLOT_DAY, such as 20000, is how many pushes a day has")
	}
	server, err := pgtest.Start(daySettings)
	must(t, err)
	t.Cleanup(func() { _ = server.Close() }) // the shell may not remove its folder from a sticky one
	t.Setenv(pgtest.EngineVariable, "postgres")
	t.Setenv(pgtest.ServerVariable, server.Address)
	const languages, texts = 5, 200
	var targets [languages][]string
	file := func(l int) map[string]string {
		return map[string]string{fmt.Sprintf("po/l%d.po", l): po(targets[l]...)}
	}
	repo := testrepos.Empty(t)
	for l := range languages {
		for i := range texts {
			targets[l] = append(targets[l], fmt.Sprintf("A sentence of usual length, number %d", i), fmt.Sprintf("Satz %d", i))
		}
		repo.Commit(t, testrepos.Change{Branch: "main", Files: file(l)})
	}
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	now := catalogtest.FirstClock()
	w.Syncer = w.NewSyncer(func() time.Time { return now })
	w.Sync()
	shared, copied := w.DB.Cluster(), cluster.Configuration{Fingerprint: "day"}
	_, err = shared.Adopt(t.Context(), copied, []cluster.Mirror{{Branch: w.Branch.Key, Project: "demo", Host: "h"}})
	must(t, err)
	room := cluster.Room{Process: "p", Configuration: copied.Fingerprint, Length: time.Hour, PerHost: 4}
	logTables(t, w.Database(), 0)
	for n := range pushes {
		now = now.Add(24 * time.Hour / time.Duration(pushes))
		l := n % languages
		targets[l][2*(n/languages%texts)+1] = fmt.Sprintf("Satz, zum %d. Mal", n)
		repo.Commit(t, testrepos.Change{Branch: "main", Files: file(l)})
		must(t, shared.Wish(t.Context(), []string{w.Branch.Key}, "a watch"))
		lease, taken, err := shared.Take(t.Context(), &room)
		must(t, err)
		if !taken {
			t.Fatal("there is no lease")
		}
		_, err = w.Syncer.Sync(cluster.WithFence(t.Context(), lease.Fence), w.Branch)
		must(t, err)
		must(t, shared.Give(t.Context(), &lease, cluster.Outcome{Next: time.Hour}))
		if (n+1)%(pushes/4) == 0 {
			logTables(t, w.Database(), n+1)
		}
	}
}

// logTables logs the sizes of the larger tables, with indexes, and how many rows are dead.
func logTables(t *testing.T, dsn string, pushes int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	rows, err := conn.Query(t.Context(), `SELECT format('%s %s kB, %s rows, %s dead, %s vacuums', relname, pg_total_relation_size(relid) / 1024, n_live_tup, n_dead_tup, autovacuum_count)
		FROM pg_stat_user_tables WHERE pg_total_relation_size(relid) > 100000 OR n_tup_upd > 0 ORDER BY pg_total_relation_size(relid) DESC`)
	must(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	t.Logf("after %d pushes:\n%s", pushes, strings.Join(list, "\n"))
}
