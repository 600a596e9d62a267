package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/repoglot/repoglot/catalog/store/pgserver"
)

const (
	overTenth   = 2  // limit of a time, of that with a tenth of the data
	scaleRounds = 31 // of each request, the median counts
	scalePushes = 15 // of one commit each
)

// scaled is a server of a number of copies of scaleProject.
type scaled struct {
	*server
	repo   string // of the first copy
	schema string
	units  int64
	last   int64 // id of the newest entry
}

// scale measures five million strings in 2,000 components with 20 million entries
// against a tenth of that, both on one PostgreSQL. One project is imported and copied
// with ids of its own. With -scale the repositories, the configurations and, on the
// server of databaseVariable, the schemas stay and are used again.
func (b *bench) scale(ctx context.Context) (err error) {
	address, end, err := postgresServer()
	if err != nil {
		return err
	}
	defer end()
	dir := b.scaleDir
	if dir == "" {
		dir = filepath.Join(b.dir, "scale")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var pair [2]*scaled
	for i, copies := range []int{scaleTenth, scaleWhole} {
		config, err := b.makeScale(ctx, dir, address, copies)
		if err != nil {
			return err
		}
		if pair[i], err = b.serveScale(ctx, config, dir, copies); err != nil {
			return err
		}
		defer pair[i].stop()
	}
	before, err := sequentialScans(ctx, address, pair[1].schema)
	if err != nil {
		return err
	}
	if err := b.scaleRequests(pair); err != nil {
		return err
	}
	if err := b.scalePushes(ctx, pair); err != nil {
		return err
	}
	return b.scaleScans(ctx, address, pair[1].schema, before)
}

// makeScale fills a schema with copies, unless it is there, and writes the
// configuration for it.
func (b *bench) makeScale(ctx context.Context, dir, address string, copies int) (string, error) {
	const base = 1
	if copies > base {
		if _, err := b.makeScale(ctx, dir, address, base); err != nil {
			return "", err
		}
	}
	if err := b.scaleRepositories(ctx, dir, int64(copies)); err != nil {
		return "", err
	}
	schema := scaleSchema(copies)
	config, err := b.writeScale(dir, address, copies, schema)
	if err != nil {
		return "", err
	}
	began := time.Now()
	if found, err := hasSchema(ctx, address, schema); found || err != nil {
		return config, err
	}
	if err := pgserver.Run(ctx, address, "CREATE SCHEMA "+schema); err != nil {
		return "", err
	}
	if copies == base {
		_, err := b.sync(ctx, config)
		return config, err
	}
	if _, err := measure(exec.CommandContext(ctx, b.binary, "migrate", "--config", config)); err != nil {
		return "", err
	}
	c, err := newCopier(ctx, address, scaleSchema(base), copies)
	if err != nil {
		return "", err
	}
	defer c.conn.Close(ctx)
	if err := c.fill(ctx, schema); err != nil {
		return "", err
	}
	b.figure(fmt.Sprintf("scale: %d copies of a project are made", copies), "s", time.Since(began).Seconds())
	return config, nil
}

// hasSchema reports whether a schema is there.
func hasSchema(ctx context.Context, address, schema string) (found bool, err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SELECT to_regnamespace($1) IS NOT NULL", schema).Scan(&found)
	return found, err
}

// serveScale starts the server of a number of copies.
func (b *bench) serveScale(ctx context.Context, config, dir string, copies int) (*scaled, error) {
	s, err := b.serve(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := b.pullsOfMany(s, copies*scaleProject.Components); err != nil {
		return nil, err
	}
	of := &scaled{server: s, repo: scaleRepository(dir, int64(copies), 0), schema: scaleSchema(copies)}
	if of.units, err = s.count("/api/units/"); err != nil {
		return nil, err
	}
	of.last, err = s.count("/api/changes/")
	b.figure(fmt.Sprintf("scale: units of %d components", copies*scaleProject.Components), "", float64(of.units))
	b.figure("  entries", "", float64(of.last))
	return of, err
}

// scaleRequests prints a row for each request, which both servers get in turn. Each
// request is another one, so that nothing is kept.
func (b *bench) scaleRequests(pair [2]*scaled) error {
	requests := []scaleRequest{
		{"changes, after_id", func(s *scaled, n int64) string {
			return fmt.Sprintf("/api/changes/?page_size=50&after_id=%d", s.last*(n+1)/(scaleRounds+1))
		}},
	}
	for _, r := range []struct{ what, path string }{
		{"units, page 1", "/api/units/?page_size=50&n=%d"},
		{"units, page 1,000", "/api/units/?page_size=50&page=10%02d"},
		{"units, last page", "/api/units/?page_size=50&page=last&n=%d"},
		{"changes, page 1", "/api/changes/?page_size=50&n=%d"},
		{"changes, page 1,000", "/api/changes/?page_size=50&page=10%02d"},
		{"changes, last page", "/api/changes/?page_size=50&page=last&n=%d"},
		{"units of a translation", "/api/translations/p01/app-%03d/cs/units/?page_size=50&page=5"},
		{"changes of a translation", "/api/translations/p01/app-%03d/cs/changes/?page_size=50&page=5"},
		{"changes of a project", "/api/projects/p01/changes/?page_size=50&page=1%02d"},
		{"statistics of a project", "/api/projects/p01/statistics/?n=%d"},
		{"statistics of a component", "/api/components/p01/app-%03d/statistics/"},
		{"changes by user", "/api/changes/?page_size=50&user=ada-mint&page=%d"},
		{"changes by user, page 1,000", "/api/changes/?page_size=50&user=ada-mint&page=10%02d"},
		{"changes by action", "/api/changes/?page_size=50&action=63&page=%d"},
		{"changes by action, page 1,000", "/api/changes/?page_size=50&action=63&page=10%02d"},
		{"changes by user and action", "/api/changes/?page_size=50&user=ada-mint&action=63&page=%d"},
		{"changes by action since a time", "/api/changes/?page_size=50&action=59&timestamp_after=2021-12-08T00:00:00Z&page=%d"},
		{"changes by user since a time", "/api/changes/?page_size=50&user=ada-mint&timestamp_after=2021-12-08T00:00:00Z&page=%d"},
		{"search of an id", fmt.Sprintf("/api/units/?q=id:%d%%02d", int64(110)<<unitBits/100)},
		{"search in a translation", "/api/units/?q=path:p01/app-%03d/cs"},
		{"search of a state in a component", "/api/units/?q=path:p01/app-%03d+AND+state:%%3Ctranslated"},
		{"search of a check in a component", "/api/units/?q=path:p01/app-%03d+AND+has:check"},
	} {
		requests = append(requests, scaleRequest{r.what, func(_ *scaled, n int64) string { return fmt.Sprintf(r.path, 1+n) }})
	}
	for _, r := range requests {
		tenth, whole, err := inTurn(scaleRounds, func(i, n int) (time.Duration, error) {
			_, took, err := pair[i].get(r.path(pair[i], int64(n)))
			return took, err
		})
		if err != nil {
			return err
		}
		b.row(fmt.Sprintf("scale: %s (%.3g, %.3g ms)", r.what, tenth, whole), "×", whole/tenth, overTenth)
	}
	return nil
}

// scaleRequest is a request of both servers.
type scaleRequest struct {
	what string
	path func(s *scaled, round int64) string
}

// scalePushes prints the row of a commit that is pushed to one repository, until its
// entries are there.
func (b *bench) scalePushes(ctx context.Context, pair [2]*scaled) error {
	const translates = "Update the translation of" // other commits may make no entries
	list, err := git(ctx, "-C", pair[0].repo, "rev-list", "--reverse", "--grep", translates, "HEAD.."+scaleNewest)
	if err != nil {
		return err
	}
	ahead := strings.Fields(list)
	const entries = "/api/projects/" + "p00" + "/changes/"
	tenth, whole, err := inTurn(scalePushes, func(i, n int) (time.Duration, error) {
		before, err := pair[i].count(entries)
		if err != nil {
			return 0, err
		}
		began := time.Now()
		if _, err := git(ctx, "-C", pair[i].repo, "update-ref", "HEAD", ahead[n]); err != nil {
			return 0, err
		}
		err = pair[i].waitUntil(time.Minute, time.Millisecond, "commit "+ahead[n], func() (bool, error) {
			now, err := pair[i].count(entries)
			return now > before, err
		})
		return time.Since(began), err
	})
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("scale: one commit pushed: visible (%.3g, %.3g ms)", tenth, whole), "×", whole/tenth, overTenth)
	return nil
}

// scaleTables are the tables that no statement of an answer or a pull may read whole.
const scaleTables = "'units', 'changes', 'deltas', 'layouts', 'failing', 'files'"

// scaleScans prints the number of times that a table was read whole since the server
// counted before.
func (b *bench) scaleScans(ctx context.Context, address, schema string, before int64) error {
	after, err := sequentialScans(ctx, address, schema)
	b.row("scale: times that a large table was read whole", "", float64(after-before), 0)
	return err
}

// sequentialScans is the number of times that large tables of a schema were read whole.
// A session of the server reports what it did when it has nothing else to do.
func sequentialScans(ctx context.Context, address, schema string) (n int64, err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SELECT SUM(seq_scan)::BIGINT FROM pg_stat_user_tables WHERE schemaname = $1 AND relname IN ("+scaleTables+")", schema).Scan(&n)
	return n, err
}
