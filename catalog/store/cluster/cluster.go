package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Cluster is what the processes share that use one database of PostgreSQL: who
// pulls which branch, and whose configuration counts. All times are of the
// database's clock. It is safe for concurrent use, and does not wait for steps: its
// sessions are its own.
type Cluster struct {
	db     *sqldb.DB
	pool   *sqldb.Pool
	write  Write
	wished <-chan struct{}
}

// Write runs fn in a transaction beside which nothing else is written.
type Write func(ctx context.Context, fn func(s *sqldb.Session) error) error

// New makes the cluster of a database with a pool of sessions of its own. wished is what
// Cluster.Wished returns.
func New(db *sqldb.DB, pool *sqldb.Pool, write Write, wished <-chan struct{}) *Cluster {
	return &Cluster{db: db, pool: pool, write: write, wished: wished}
}

// Wished receives a value when a process wished for a pull, or gave a branch back that
// is due. Only while a Watch is open, and not always: a poll must be behind it.
func (c *Cluster) Wished() <-chan struct{} { return c.wished }

// Mirror is a branch that the configuration names.
type Mirror struct {
	// Branch names it, like ingest.BranchKey.
	Branch string
	// Project and Host are what pulls are shared out by. Host is "" for a local
	// repository.
	Project, Host string
}

// What a process does that pulls.
const (
	WorkServe = "serve"
	WorkPull  = "pull"
)

// SilentAfter is how long ago a process that lives was seen at most.
const SilentAfter = 15 * time.Second

// Process is a process of a cluster.
type Process struct {
	// ID differs from that of every other process, now and before.
	ID string `json:"id"`
	// Machine and PID say where to find it, Work what it does, Version its build.
	Machine string `json:"machine"`
	PID     int    `json:"pid"`
	Work    string `json:"work"`
	Version string `json:"version"`
	// Configuration is the fingerprint of its copy of the configuration.
	Configuration string `json:"configuration"`
	// Problem says why it pulls nothing although it should; "" if it does.
	Problem string `json:"problem,omitempty"`
	// Lacks are the branches of local repositories that it does not have, ascending.
	Lacks []string `json:"lacks,omitempty"`
	// Started is when it was first seen, Seen when it was seen last. Seen ignores
	// both.
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"`
}

// Silent reports whether a process has given no sign of life for so long that it is
// taken to be dead.
func (p *Process) Silent(at time.Time) bool { return at.Sub(p.Seen) > SilentAfter }

// Seen records that a process is alive. told says that it lacks what it lacked when that
// was recorded last: the list, which may be long, is written only if the process is unknown.
func (c *Cluster) Seen(ctx context.Context, p *Process, told bool) error {
	return c.Do(ctx, "record the process", func(s *sqldb.Session) error {
		if told {
			rows, err := s.Exec(ctx, `UPDATE processes SET fingerprint = $2, problem = $3, seen = `+sqldb.Clock+` WHERE id = $1`, p.ID, p.Configuration, p.Problem)
			if rows > 0 || err != nil {
				return err
			}
		}
		return s.Do(ctx, `INSERT INTO processes (id, machine, pid, work, version, fingerprint, problem, lacks, started, seen)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, `+sqldb.Clock+`, `+sqldb.Clock+`)
			ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, problem = excluded.problem, lacks = excluded.lacks, seen = excluded.seen`,
			p.ID, p.Machine, p.PID, p.Work, p.Version, p.Configuration, p.Problem, textList(p.Lacks))
	})
}

// keepProcesses is how long a process is remembered that is not seen.
const keepProcesses = time.Hour

// Leave forgets a process that ends, and those that were not seen for an hour.
func (c *Cluster) Leave(ctx context.Context, id string) error {
	return c.Do(ctx, "forget the process", func(s *sqldb.Session) error {
		return s.Do(ctx, `DELETE FROM processes WHERE id = $1 OR seen < `+sqldb.Clock+` - $2`, id, keepProcesses.Microseconds())
	})
}

// State is a look at a cluster.
type State struct {
	// At is when it was taken.
	At time.Time
	// Processes are in the order of their start, Mirrors in that of their branches.
	Processes []Process
	Mirrors   []MirrorState
	// Newest is the copy of the configuration that counts.
	Newest Configuration
}

// MirrorState is what is known of the pulls of a branch. A time is zero if the event
// never was.
type MirrorState struct {
	Mirror
	// Holder is the process that pulls it, "" if none does. The lease lasts until
	// Expires, unless it is renewed.
	Holder  string
	Expires time.Time
	// Due is the next pull by the clock. Wished is since when a pull is wished, and
	// WishedBy by what.
	Due, Wished time.Time
	WishedBy    string
	// Started is when the last pull began, Ended when the last one ended, Succeeded
	// when the last good one did.
	Started, Ended, Succeeded time.Time
	// Failures counts the pulls in a row that failed, and Problem says why the last
	// one did.
	Failures int
	Problem  string
}

// Running reports whether a process pulls it at a time.
func (m *MirrorState) Running(at time.Time) bool { return m.Holder != "" && m.Expires.After(at) }

// Waiting reports whether a pull could begin at a time.
func (m *MirrorState) Waiting(at time.Time) bool {
	if m.Holder != "" {
		return !m.Expires.After(at)
	}
	return !m.Wished.IsZero() || !m.Due.IsZero() && !m.Due.After(at)
}

// waits is since when a pull could have begun; zero if it could not.
func (m *MirrorState) waits(at time.Time) (since time.Time) {
	if !m.Waiting(at) {
		return since
	}
	if m.Holder != "" {
		return m.Expires
	}
	since = m.Wished
	if !m.Due.IsZero() && (since.IsZero() || m.Due.Before(since)) {
		since = m.Due
	}
	return since
}

// Nowhere is said of a branch whose local repository no process has that pulls.
const Nowhere = "no process that pulls has this local repository"

// Outdated is said of a branch if only processes pull whose configuration does not count.
const Outdated = "all processes that pull have an older copy of the configuration"

// Stuck says why no process takes a branch that has waited for longer than SilentAfter
// (a process that just began is known by then); "" if one does, or if nobody pulls at
// all. A process of an older version, which does not say what it lacks, is one that has
// everything.
func (s *State) Stuck(m *MirrorState) (reason string) {
	if since := m.waits(s.At); since.IsZero() || s.At.Sub(since) <= SilentAfter {
		return ""
	}
	for i := range s.Processes {
		p := &s.Processes[i]
		if p.Work != WorkServe && p.Work != WorkPull || p.Silent(s.At) {
			continue
		}
		_, lacks := slices.BinarySearch(p.Lacks, m.Branch)
		switch {
		case p.Configuration != s.Newest.Fingerprint:
			reason = cmp.Or(reason, Outdated)
		case p.Problem == "" && !lacks:
			return ""
		case !lacks:
			reason = p.Problem
		case reason == "", reason == Outdated:
			reason = Nowhere
		}
	}
	return reason
}

// State returns the state of the cluster.
func (c *Cluster) State(ctx context.Context) (*State, error) {
	state := &State{}
	err := c.Do(ctx, "read the state of the cluster", func(s *sqldb.Session) (err error) {
		if state.Newest, err = newestConfiguration(ctx, s); err != nil {
			return err
		}
		err = s.Query(ctx, `SELECT id, machine, pid, work, version, fingerprint, problem, lacks, started, seen FROM processes ORDER BY started, id`, nil, func(scan sqldb.Scan) error {
			var p Process
			var lacks []byte
			err := scan(&p.ID, &p.Machine, &p.PID, &p.Work, &p.Version, &p.Configuration, &p.Problem, &lacks, &p.Started, &p.Seen)
			if err == nil {
				err = json.Unmarshal(lacks, &p.Lacks)
			}
			state.Processes = append(state.Processes, p)
			return err
		})
		if err != nil {
			return err
		}
		if state.Mirrors, err = mirrorStates(ctx, s); err != nil {
			return err
		}
		_, err = s.First(ctx, `SELECT `+sqldb.Clock, nil, &state.At)
		return err
	})
	return state, err
}

func mirrorStates(ctx context.Context, s *sqldb.Session) ([]MirrorState, error) {
	return sqldb.Rows(ctx, s, `SELECT branch, project, host, holder, expires, due, wished, wished_by, started, ended, succeeded, failures, problem
		FROM mirrors WHERE active = 1 ORDER BY branch`, nil, func(m *MirrorState) []any {
		return []any{
			&m.Branch, &m.Project, &m.Host, &m.Holder, &m.Expires, &m.Due, &m.Wished, &m.WishedBy,
			&m.Started, &m.Ended, &m.Succeeded, &m.Failures, &m.Problem,
		}
	})
}

// Do runs a short transaction, which waits for no step.
func (c *Cluster) Do(ctx context.Context, op string, fn func(s *sqldb.Session) error) error {
	return c.db.Fail(ctx, op, c.pool.Transact(ctx, fn))
}

// textList is a list of texts as a parameter, for textsOf.
func textList(list []string) string {
	if list == nil {
		list = []string{}
	}
	text, _ := json.Marshal(list) // texts have no error
	return string(text)
}

// textsOf are the texts of a list that is parameter n.
func textsOf(n int) string {
	return fmt.Sprintf("(SELECT jsonb_array_elements_text(CAST($%d AS TEXT)::jsonb))", n)
}

// Spent is what a client used of a limit.
type Spent = struct {
	// Client names it.
	Client string
	// Used is the number of requests, or of what else is limited.
	Used int
	// Left is the rest of the span that the limit is about.
	Left time.Duration
}

// spend adds up what clients used, in the order of their names, so that two processes
// never wait for each other. A span that was over begins again.
const spend = `INSERT INTO spent AS s (client, used, ends)
	SELECT x.client, x.used, ` + sqldb.Clock + ` + x.left_us FROM jsonb_to_recordset(CAST($1 AS TEXT)::jsonb) AS x(client TEXT, used BIGINT, left_us BIGINT) ORDER BY x.client
	ON CONFLICT (client) DO UPDATE SET used = excluded.used + CASE WHEN s.ends > ` + sqldb.Clock + ` THEN s.used ELSE 0 END,
		ends = CASE WHEN s.ends > ` + sqldb.Clock + ` THEN s.ends ELSE excluded.ends END
	RETURNING client, used, ends - ` + sqldb.Clock

// forgetSpent deletes spans that are over, a few at a time.
const forgetSpent = `DELETE FROM spent WHERE client IN (SELECT client FROM spent WHERE ends < ` + sqldb.Clock + ` ORDER BY ends LIMIT 1000 FOR UPDATE SKIP LOCKED)`

// Spend adds what clients used of a limit since the last call to what other processes
// counted, and returns the sums, with the rest of the span that began first. Clients are
// stored as hashes, until their span is over.
func (c *Cluster) Spend(ctx context.Context, limit string, list []Spent) (sums []Spent, err error) {
	type row struct {
		Client string `json:"client"`
		Used   int    `json:"used"`
		Left   int64  `json:"left_us"`
	}
	rows, names := make([]row, len(list)), map[string]string{}
	for i, s := range list {
		rows[i] = row{spender(limit, s.Client), s.Used, s.Left.Microseconds()}
		names[rows[i].Client] = s.Client
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	err = c.Do(ctx, "count requests", func(s *sqldb.Session) error {
		err := s.Query(ctx, spend, []any{string(text)}, sqldb.Cols3(func(client string, used int, left int64) {
			sums = append(sums, Spent{names[client], used, time.Duration(left) * time.Microsecond})
		}))
		if err != nil {
			return err
		}
		return s.Do(ctx, forgetSpent)
	})
	return sums, err
}

// spender is the name under which a client is stored.
func spender(limit, client string) string {
	sum := sha256.Sum256([]byte("repoglot client\x00" + strconv.Itoa(len(limit)) + limit + client))
	return hex.EncodeToString(sum[:16])
}

// Configuration is a copy of the configuration that a process reads.
type Configuration struct {
	// Fingerprint differs if what is stored of the configuration differs.
	Fingerprint string
	// Revision is its number; 0 if it has none.
	Revision int64
}

// Adopt makes a copy of the configuration known, and returns the one that counts:
// that with the highest revision, and among those the one that was first seen last.
// So a copy that was seen before is not the newest again by a restart, only with a
// higher revision. If it is this one, its branches are the ones that are pulled; new
// ones are due at once.
func (c *Cluster) Adopt(ctx context.Context, copied Configuration, mirrors []Mirror) (newest Configuration, err error) {
	err = c.write(ctx, func(s *sqldb.Session) error {
		err := s.Do(ctx, `INSERT INTO configurations (fingerprint, revision, n, seen)
			SELECT $1, $2, COALESCE(MAX(n), 0) + 1, `+sqldb.Clock+` FROM configurations ON CONFLICT (fingerprint) DO NOTHING`, copied.Fingerprint, copied.Revision)
		if err != nil {
			return err
		}
		if newest, err = newestConfiguration(ctx, s); err != nil || newest != copied {
			return err
		}
		return putMirrors(ctx, s, mirrors)
	})
	return newest, c.db.Fail(ctx, "compare configurations", err)
}

// newestConfiguration is the copy that counts.
func newestConfiguration(ctx context.Context, s *sqldb.Session) (c Configuration, err error) {
	_, err = s.First(ctx, `SELECT fingerprint, revision FROM configurations ORDER BY revision DESC, n DESC LIMIT 1`, nil, &c.Fingerprint, &c.Revision)
	return c, err
}

// putMirrors stores the branches of the configuration. A lease of one that is gone
// stays until it is given back.
func putMirrors(ctx context.Context, s *sqldb.Session, mirrors []Mirror) error {
	stored := map[string]Mirror{}
	err := s.Query(ctx, `SELECT branch, project, host FROM mirrors WHERE active = 1`, nil,
		sqldb.Cols3(func(branch, project, host string) { stored[branch] = Mirror{branch, project, host} }))
	if err != nil {
		return err
	}
	for _, m := range mirrors {
		old, known := stored[m.Branch]
		delete(stored, m.Branch)
		if known && old == m {
			continue
		}
		if err := s.Do(ctx, `INSERT INTO mirrors (branch, project, host, active, due) VALUES ($1, $2, $3, 1, `+sqldb.Clock+`)
			ON CONFLICT (branch) DO UPDATE SET project = excluded.project, host = excluded.host, active = 1,
			due = CASE WHEN mirrors.active = 1 THEN mirrors.due ELSE excluded.due END`, m.Branch, m.Project, m.Host); err != nil {
			return err
		}
	}
	return catalog.Try(slices.Sorted(maps.Keys(stored)), func(branch *string) error {
		return s.Do(ctx, `UPDATE mirrors SET active = 0 WHERE branch = $1`, *branch)
	})
}
