package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/schedule"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// What a process does, as repoglot jobs shows it.
const (
	WorkServe  = cluster.WorkServe
	WorkAnswer = "serve --no-pull"
	WorkPull   = cluster.WorkPull
	WorkSync   = "sync"
)

// seenInterval is the time between two signs of life of a process.
const seenInterval = cluster.SilentAfter / 3

// member is this process as one of several that use a database.
type member struct {
	table  *cluster.Cluster
	log    *slog.Logger
	length time.Duration       // of leases; 0: the default
	pulls  *schedule.Scheduler // set before run; nil for commands that do not pull
	told   bool                // the others know what this process lacks; only run uses these
	lacks  []string

	mu      sync.Mutex
	process cluster.Process
	newest  cluster.Configuration
	state   *cluster.State // the last look; nil before the first
	stuck   []string       // branches that no process could pull then
}

// newMember returns this process as a user of a database; nil for SQLite.
func newMember(db *store.DB, o *Options) *member {
	table := db.Cluster()
	if table == nil {
		return nil
	}
	machine, err := os.Hostname()
	if err != nil {
		machine = "unknown"
	}
	pid := os.Getpid()
	return &member{table: table, log: o.Logger, length: o.LeaseLength, process: cluster.Process{
		ID: fmt.Sprintf("%s/%d/%s", machine, pid, rand.Text()[:8]), Machine: machine, PID: pid, Work: o.Work, Version: o.Version,
	}}
}

// fingerprint tells copies of the configuration apart by what is stored of them: not
// by addresses and folders, which may differ from machine to machine.
func (p *Plan) fingerprint() (cluster.Configuration, error) {
	all := map[string]any{"revision": p.revision, "projects": p.projects, "components": p.components, "templates": p.templates, "bots": p.bots}
	if len(p.discover) > 0 { // so that versions that did not compare them agree where there are none
		all["discover"] = p.discover
	}
	if len(p.receivers) > 0 {
		all["notify"] = p.receivers
	}
	text, err := json.Marshal(all)
	sum := sha256.Sum256(text)
	return cluster.Configuration{Fingerprint: hex.EncodeToString(sum[:8]), Revision: p.revision}, err
}

// adopt makes a plan known to the others, and reports whether it is the newest.
func (c *member) adopt(ctx context.Context, p *Plan) (newest bool, err error) {
	copied, err := p.fingerprint()
	if err != nil {
		return false, fmt.Errorf("comparing configurations: %w", err)
	}
	mirrors := make([]cluster.Mirror, len(p.branches))
	for i := range p.branches {
		b := &p.branches[i]
		mirrors[i] = cluster.Mirror{Branch: b.Key, Host: repourl.Host(b.Remote.URL)}
		if len(b.Components) > 0 {
			mirrors[i].Project = b.Components[0].Spec.Project
		}
	}
	counts, err := c.table.Adopt(ctx, copied, mirrors)
	if err != nil {
		return false, err
	}
	c.mu.Lock()
	c.process.Configuration, c.newest = copied.Fingerprint, counts
	c.mu.Unlock()
	if counts != copied {
		c.log.Warn(olderCopy, "fingerprint", copied.Fingerprint, "revision", copied.Revision, "newest", counts.Fingerprint, "newest_revision", counts.Revision)
	}
	return counts == copied, nil
}

// olderCopy is said of a process whose configuration does not count.
const olderCopy = "this copy of the configuration is older than another process's: it changes nothing and pulls nothing; copy the newer file, or give this one a higher revision"

// view is this process as the others are told of it, the configuration that counts, and the
// last look, nil before the first.
func (c *member) view() (self cluster.Process, newest cluster.Configuration, state *cluster.State) {
	c.mu.Lock()
	self, newest, state = c.process, c.newest, c.state
	c.mu.Unlock()
	if c.pulls != nil {
		self.Problem = c.pulls.Problem()
	}
	return self, newest, state
}

// configuration is the fingerprint of the copy of this process.
func (c *member) configuration() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process.Configuration
}

// older reports whether another copy of the configuration counts.
func (c *member) older() bool {
	self, newest, _ := c.view()
	return newest.Fingerprint != self.Configuration
}

// puller makes the puller of this process, with a number of workers.
func (c *member) puller(workers int, has func(branch string) bool, room func() error) *schedule.Scheduler {
	p := schedule.New(schedule.Options{
		Table: c.table, Process: c.process.ID, Configuration: c.configuration, Workers: workers,
		Wished: c.table.Wished(), Has: has, Room: room, Length: c.length, Logger: c.log,
	})
	c.pulls = p
	return p
}

// run gives signs of life until ctx is done.
func (c *member) run(ctx context.Context) error {
	look := func() {
		if err := c.look(ctx); err != nil && ctx.Err() == nil {
			c.log.Debug("no sign of life could be given", "error", err)
		}
	}
	look()
	every(ctx, seenInterval, look)
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := c.table.Leave(leaving, c.process.ID); err != nil {
		c.log.Debug("the others were not told of the end", "error", err)
	}
	return nil
}

// look gives a sign of life and looks at the others.
func (c *member) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, seenInterval)
	defer cancel()
	self, _, _ := c.view()
	if c.pulls != nil { // set before it runs
		self.Lacks = c.pulls.Lacks()
	}
	if err := c.table.Seen(ctx, &self, c.told && slices.Equal(c.lacks, self.Lacks)); err != nil {
		return err
	}
	c.told, c.lacks = true, self.Lacks
	state, err := c.table.State(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	was := c.newest
	c.state, c.newest = state, state.Newest
	mine := c.process.Configuration
	c.mu.Unlock()
	c.reportStuck(state)
	if was != state.Newest && mine != state.Newest.Fingerprint {
		c.log.Warn(olderCopy, "fingerprint", mine, "newest", state.Newest.Fingerprint, "newest_revision", state.Newest.Revision)
	}
	return nil
}

// reportStuck logs the branches that no process takes, once for each set of them.
func (c *member) reportStuck(state *cluster.State) {
	var list []string
	for i := range state.Mirrors {
		if m := &state.Mirrors[i]; state.Stuck(m) != "" {
			list = append(list, m.Branch)
		}
	}
	c.mu.Lock()
	same := slices.Equal(c.stuck, list)
	c.stuck = list
	c.mu.Unlock()
	switch {
	case same:
	case len(list) == 0:
		c.log.Info("all branches that are due can be pulled by some process again")
	default:
		c.log.Warn("no process can pull these branches; repoglot jobs says why", "branches", list[:min(len(list), maxLogged)], "count", len(list))
	}
}

// clusterSummary is what the last look at the cluster found.
type clusterSummary struct {
	Processes int `json:"processes"` // that gave a sign of life lately
	Others    int `json:"other_configurations"`
	Running   int `json:"running"`
	Waiting   int `json:"waiting"`
	Failed    int `json:"failed"`
	Unseen    int `json:"silent_processes"` // that gave none, and did not leave
	Stuck     int `json:"stuck"`            // branches that wait, and that no process can pull
	Paused    int `json:"paused_processes"` // that pause their pulls, for want of room
}

// summarise sums up a look; nil: there was none.
func summarise(state *cluster.State) (s clusterSummary) {
	if state == nil {
		return s
	}
	for i := range state.Processes {
		p := &state.Processes[i]
		switch {
		case p.Silent(state.At):
			s.Unseen++
			continue
		case p.Configuration != state.Newest.Fingerprint:
			s.Others++
		}
		s.Processes++
		if p.Problem != "" {
			s.Paused++
		}
	}
	for i := range state.Mirrors {
		m := &state.Mirrors[i]
		switch {
		case m.Running(state.At):
			s.Running++
		case m.Waiting(state.At):
			s.Waiting++
		}
		if m.Problem != "" {
			s.Failed++
		}
		if state.Stuck(m) != "" {
			s.Stuck++
		}
	}
	return s
}

// readyz adds to the body of /readyz what all may know: no names.
func (c *member) readyz(body map[string]any) {
	self, newest, state := c.view()
	process := map[string]any{"work": self.Work, "configuration": self.Configuration}
	if self.Problem != "" {
		process["problem"] = catalog.WithoutPrivate(self.Problem)
	}
	body["process"] = process
	older := newest.Fingerprint != self.Configuration
	body["configuration"] = map[string]any{"newest": newest.Fingerprint, "revision": newest.Revision, "older_copy": older}
	if state != nil {
		body["cluster"] = summarise(state)
	}
}

// Describe implements prometheus.Collector.
func (c *member) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c *member) Collect(ch chan<- prometheus.Metric) {
	self, newest, state := c.view()
	older, s := 0, summarise(state)
	if newest.Fingerprint != self.Configuration {
		older = 1
	}
	for _, g := range []struct {
		name, help string
		value      int
	}{
		{"configuration_older", "1 if another process has a newer copy of the configuration, so that this one changes and pulls nothing.", older},
		{"cluster_processes", "Processes that use the database and gave a sign of life in the last 15 seconds.", s.Processes},
		{"cluster_silent_processes", "Processes that gave none, and did not end by themselves.", s.Unseen},
		{"cluster_paused_processes", "Processes that pause their pulls, for want of room on their disks or the database's.", s.Paused},
		{"cluster_other_configurations", "Processes with another copy of the configuration than the newest.", s.Others},
		{"cluster_running", "Branches that are being pulled, by all processes.", s.Running},
		{"cluster_waiting", "Branches that are due and wait for a process with room.", s.Waiting},
		{"cluster_stuck", "Branches that wait and that no process can pull: none has the local repository, room, or the newest configuration.", s.Stuck},
		{"cluster_failing", "Branches whose last pull failed.", s.Failed},
	} {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("repoglot_"+g.name, g.help, nil, nil), prometheus.GaugeValue, float64(g.value))
	}
}

// ErrOlderCopy is the error of sync with an older copy of the configuration.
var ErrOlderCopy = errors.New(olderCopy)

// ErrNeedsPostgres is the error of processes that SQLite cannot have.
var ErrNeedsPostgres = errors.New("the database is SQLite, which one process uses: write database: postgres://…, or use repoglot serve")

// shareInterval is the time between two exchanges of what clients used of rate_limit.
const shareInterval = time.Second

// shareLimits counts requests together with the other processes until ctx is done.
func (c *member) shareLimits(ctx context.Context, server *api.Server) error {
	every(ctx, shareInterval, func() {
		within, cancel := context.WithTimeout(ctx, seenInterval)
		defer cancel()
		if err := server.ExchangeLimits(within, c.table.Spend); err != nil && ctx.Err() == nil {
			c.log.Debug("requests are counted by this process alone", "error", err)
		}
	})
	return nil
}

// claim is hooks.Options.Claim; nil without a cluster. A pause is a limit of one call.
func (c *member) claim() func(ctx context.Context, kind, key string, pause time.Duration) (time.Duration, error) {
	if c == nil {
		return nil
	}
	return func(ctx context.Context, kind, key string, pause time.Duration) (time.Duration, error) {
		sums, err := c.table.Spend(ctx, "webhook "+kind, []cluster.Spent{{Client: key, Used: 1, Left: pause}})
		if err != nil || len(sums) == 0 || sums[0].Used <= 1 {
			return 0, err
		}
		return sums[0].Left, nil
	}
}
