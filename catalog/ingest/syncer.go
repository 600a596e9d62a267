package ingest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog/ingest/checkup"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Options configure a Syncer. DB, Languages and MirrorDir are required.
type Options struct {
	// DB is the store of units and changes.
	DB *store.DB
	// Languages is the language table.
	Languages *lang.Table
	// MirrorDir is the folder of the local mirrors. It is a cache.
	MirrorDir string
	// Git are the options of the mirrors.
	Git gitsource.Options
	// MaxFileSize bounds a PO file in bytes; 0: 128 MiB.
	MaxFileSize int64
	// Memory bounds what pulls hold in memory together, in bytes, by estimate and beside
	// what the program needs for itself; 0: 4 GiB.
	Memory int64
	// Quotas bound what a repository may bring.
	Quotas Quotas
	// Room returns an error while there is too little room on the disk: pulls fail with
	// it and write nothing. Nil: there is always room.
	Room func() error
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Fetched returns a number that grows with each run of the job of a branch, by its key: a
	// pull whose templates are of the branch fetches it only if this process did not since.
	// Nil: each pull does.
	Fetched func(ctx context.Context, key string) int64
	// Logger; nil: silence.
	Logger *slog.Logger
	// Progress, if set, is called with the progress of the pull of a branch; key
	// is Branch.Key. It must be quick and safe for concurrent use.
	Progress func(key string, p Progress)
}

// Progress is how far a pull is.
type Progress struct {
	// Done and Total count commits of a replay, or components of an import
	// without history. Total is 0 if it is not known.
	Done, Total int
	// Entries is the number of change entries that this pull has made.
	Entries int64
	// Unchecked says that components are stored whose strings are compared with
	// each other before the pull ends; until then none of their checks fails, or those
	// that compare do not.
	Unchecked bool
}

// Syncer pulls branches into the store. It is safe for concurrent use. Pulls of
// one branch wait for each other.
type Syncer struct {
	Options
	metrics *metrics
	hooked  hookTimes

	memory   *memory
	bounds   replayBounds
	partSize int // of large files in a first import

	compareUnits    int64 // how many units are compared in one transaction
	compareTogether int   // and how many changes of groups are stored at a time

	histories   *gitsource.Histories
	compareTime time.Duration

	mu      sync.Mutex
	mirrors map[string]*mirror
}

const defaultMaxFileSize = 128 << 20

// New makes a Syncer.
func New(o Options) *Syncer {
	o.Quotas, o.Logger = o.Quotas.orDefault(), cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.MaxFileSize <= 0 {
		o.MaxFileSize = defaultMaxFileSize
	}
	if o.Room == nil {
		o.Room = func() error { return nil }
	}
	o.Git.Room = o.Room
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Fetched == nil {
		var pulls atomic.Int64
		o.Fetched = func(context.Context, string) int64 { return pulls.Add(1) }
	}
	if o.Progress == nil {
		o.Progress = func(string, Progress) {}
	}
	s := &Syncer{
		Options: o, metrics: newMetrics(), memory: newMemory(o.Memory), compareUnits: compareUnits, compareTogether: checkup.MaxPending,
		partSize: unit.PartSize, mirrors: make(map[string]*mirror), histories: gitsource.NewHistories(), compareTime: compareTime,
	}
	s.bounds = defaultReplayBounds(s.memory)
	return s
}

// Close ends what goes on for Compare.
func (s *Syncer) Close() { s.histories.Close() }

// Sync is one pull: it fetches the branch and brings all of its components to
// its head, step by step. The error says why the branch as a whole could not be
// pulled, and joins the errors of its components. A component that fails does
// not stop the others; its error is in its report, too. After an error nothing
// is half-done: the next Sync continues.
func (s *Syncer) Sync(ctx context.Context, b Branch) (report Report, err error) {
	err = s.Hold(ctx, b, func(ctx context.Context, held *Held) (err error) {
		report, err = held.Pull(ctx)
		return err
	})
	return report, err
}

// pull is Sync for whoever has the turn of the mirror.
func (s *Syncer) pull(ctx context.Context, b Branch, m *mirror) (Report, error) {
	if fence, ok := cluster.FenceOf(ctx); ok {
		if fence.Token > m.lease+1 { // another process pulled since: what is remembered is old
			clear(m.discovered)
			clear(m.suggested)
		}
		m.lease = fence.Token
	}
	started := s.Now() // after take: pulls of a branch are in order of time
	p := &pull{s: s, branch: b, at: started.UTC().Truncate(time.Microsecond), changes: make(map[int64]int64), kept: checkup.Kept{}, partial: map[cacheKey]*partialFile{}, phases: newPhases(time.Now)}
	report, err := p.run(ctx, m)
	p.phases.observe(s.metrics.phases)
	s.metrics.pull(s.Now().Sub(started), &report, err)
	if err != nil {
		return report, fmt.Errorf("pull %s: %w", b.Key, err)
	}
	return report, nil
}

// Branch is one branch of one repository with all components that are read from
// it. A pull is about one Branch.
type Branch struct {
	// Remote is where to pull from, with its credential.
	Remote remote.Repository
	// Key names the branch in logs and schedules: the repository's address
	// without credentials, and the branch. See BranchKey.
	Key string
	// Components are the components of the configuration, discoveries included.
	Components []Component
	// Templates are the other branches that their templates are read from, without
	// components.
	Templates []Branch
}

// Component is a component as the configuration describes it.
type Component struct {
	// Spec holds its settings. A slug with {component} is a discovery: one
	// component per match of the mask.
	Spec store.ComponentSpec
}

// BranchKey returns the Key of a branch; an empty branch is the remote's HEAD.
func BranchKey(repo, branch string) string {
	if branch == "" {
		branch = "HEAD"
	}
	return repourl.Redact(repo) + "#" + branch
}

// Report is the result of a pull.
type Report struct {
	// Head is the commit at the head of the branch, "" if it could not be fetched.
	Head string
	// Moved says that the branch is at another commit than after the last pull of this process,
	// cannot be fetched any more, or can again.
	Moved bool
	// Steps is the number of transactions that moved components.
	Steps int
	// Changes is the number of change entries written.
	Changes int64
	// Components are the results for the components, in the order of their ids.
	Components []ComponentReport
	// NewFailures are the quality checks that fail since the pull.
	NewFailures checkup.NewFailures
}

// Reached reports whether the branch was fetched and all of its components were tried: then
// an error of the pull is about some of them, and not about the others.
func (r *Report) Reached() bool { return len(r.Components) > 0 }

// ComponentReport is the result of a pull for one component.
type ComponentReport struct {
	// ID is the component's id, Project and Slug its name. A discovery that
	// finds nothing is reported under its own slug, with the id 0.
	ID            int64
	Project, Slug string
	// Head is the commit of the component after the pull.
	Head string
	// Changes is the number of change entries written for it.
	Changes int64
	// Problems has one line for each file that is not served, with the reason, or
	// says that the component has no file. The rest of the component is served. Nil
	// if the pull had no reason to look, so that nothing is new; the first pull of a
	// process always looks.
	Problems []string
	// Err is why the component is not at the branch's head; nil if it is.
	Err error
}

// metrics counts pulls; see Syncer.Metrics.
type metrics struct {
	pulls   *prometheus.CounterVec
	seconds prometheus.Histogram
	phases  *prometheus.HistogramVec
	steps   prometheus.Counter
	changes prometheus.Counter
}

func newMetrics() *metrics {
	return &metrics{
		pulls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "repoglot_pulls_total", Help: "Pulls of a branch, by result.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "repoglot_pull_duration_seconds", Help: "Duration of a pull, fetch included.",
			Buckets: prometheus.ExponentialBuckets(0.005, 4, 10),
		}),
		phases: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "repoglot_pull_phase_seconds", Help: "Duration of the parts of a pull.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
		}, []string{"phase"}),
		steps: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "repoglot_steps_total", Help: "Transactions that moved components to another commit.",
		}),
		changes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "repoglot_changes_total", Help: "Change entries written.",
		}),
	}
}

func (m *metrics) pull(d time.Duration, r *Report, err error) {
	result := "ok"
	if err != nil {
		result = "failed"
	}
	m.pulls.WithLabelValues(result).Inc()
	m.seconds.Observe(d.Seconds())
	m.steps.Add(float64(r.Steps))
	m.changes.Add(float64(r.Changes))
}

// Metrics returns the collectors of the Syncer.
func (s *Syncer) Metrics() []prometheus.Collector {
	return []prometheus.Collector{s.metrics.pulls, s.metrics.seconds, s.metrics.phases, s.metrics.steps, s.metrics.changes}
}

// AtHead runs a transaction that changes strings of a component and leaves its head where it
// is. What fn changes is checked. The error wraps catalog.ErrConflict if a pull moved the
// head meanwhile.
func (s *Syncer) AtHead(ctx context.Context, row store.BranchComponent, at time.Time, fn func(context.Context, *store.StepTx) error) error {
	c, err := newComponent(row, s.Languages)
	if err != nil {
		return err
	}
	info := stayingAt(&row, at, row.ID)
	info.Configured = row.Configured
	_, err = s.DB.Step(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return checkup.New(tx).Run(ctx, checked(c))
	})
	return err
}

// stayingAt describes a step that leaves components of one branch, which are at one commit,
// there. row is one of them.
func stayingAt(row *store.BranchComponent, at time.Time, components ...int64) store.StepInfo {
	return store.StepInfo{
		Repo: row.Repo, Branch: row.Branch, Components: components,
		From: row.At(), To: row.At(), Tracking: row.Tracking, At: at,
	}
}

// FileCode returns the code of a language in the name of a file of a component, as the
// project writes it: po/zh_CN.po has zh_CN, and is zh_Hans. ok says whether the filemask and
// language_regex select the file.
func (s *Syncer) FileCode(row *store.BranchComponent, path string) (code string, ok bool) {
	selection, err := newSelection(&row.Settings, s.Languages)
	if err != nil {
		return "", false
	}
	return selection.code(path)
}

// The phases of a pull, which the metrics name. Time in none of them is otherPhase's.
const (
	fetchPhase  = "fetch"  // asking the remote, and copying what is new
	walkPhase   = "walk"   // opening the mirror, commits and trees, what is stored of components
	readPhase   = "read"   // reading and parsing files
	applyPhase  = "apply"  // comparing with what is stored, and writing it
	checkPhase  = "check"  // quality checks
	commitPhase = "commit" // counters and the commit of the database
	otherPhase  = "other"
)

// phases shares the time of a pull out among its phases. Phases may be nested: the
// time of the inner one is not the outer one's. Use by one goroutine.
type phases struct {
	now     func() time.Time
	current string
	since   time.Time
	took    map[string]time.Duration
}

func newPhases(now func() time.Time) *phases {
	return &phases{now: now, current: otherPhase, since: now(), took: map[string]time.Duration{}}
}

// begin begins a phase; the returned function ends it.
func (p *phases) begin(name string) (end func()) {
	outer := p.enter(name)
	return func() { p.enter(outer) }
}

func (p *phases) enter(name string) (left string) {
	now := p.now()
	p.took[p.current] += now.Sub(p.since)
	left, p.current, p.since = p.current, name, now
	return left
}

// observe ends the last phase and counts all.
func (p *phases) observe(seconds *prometheus.HistogramVec) {
	p.enter(otherPhase)
	for name, d := range p.took {
		seconds.WithLabelValues(name).Observe(d.Seconds())
	}
}
