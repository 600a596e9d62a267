package cluster

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// testCopy is the configuration of the tests' clusters.
var testCopy = Configuration{Fingerprint: "first"}

// process is a process that uses a database.
type process struct {
	*Cluster
	pools sqldb.Pools
}

// clusterOf opens a database twice, as two processes do, with the branches
// "PROJECT HOST NAME".
func clusterOf(t *testing.T, branches ...string) (one, two *process) {
	t.Helper()
	pgtest.PostgresOnly(t, "SQLite has one process")
	dsn := pgtest.DSN(t, filepath.Join(t.TempDir(), "x.db"))
	one, two = openAt(t, dsn), openAt(t, dsn)
	adopt(t, one, testCopy, branches...)
	return one, two
}

func openAt(t *testing.T, dsn string) *process {
	t.Helper()
	db := sqldb.New(dsn, sqldb.Options{}.WithDefaults(), nil)
	pools, err := db.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(&pools); err != nil {
			t.Error(err)
		}
	})
	return &process{New(db, pools.Cluster, pools.Writer.Transact, nil), pools}
}

func adopt(t testing.TB, db *process, c Configuration, branches ...string) Configuration {
	t.Helper()
	var list []Mirror
	for _, b := range branches {
		project, rest, _ := strings.Cut(b, " ")
		host, _, _ := strings.Cut(rest, " ")
		list = append(list, Mirror{Branch: b, Project: project, Host: host})
	}
	newest, err := db.Adopt(t.Context(), c, list)
	if err != nil {
		t.Fatal(err)
	}
	return newest
}

// room is what a process without local repositories can pull; a lease with a
// negative length has expired.
func room(process string, length time.Duration) *Room {
	return &Room{Process: process, Configuration: testCopy.Fingerprint, Length: length, PerHost: 4}
}

// taken takes all leases that are free and returns their branches. Of leases that expire
// at once it takes one, or it would go on for ever.
func taken(t *testing.T, db *process, r *Room) (branches []string, leases []Lease) {
	t.Helper()
	for {
		l, ok, err := db.Take(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return branches, leases
		}
		branches, leases = append(branches, l.Branch), append(leases, l)
		if r.Length < 0 {
			return branches, leases
		}
	}
}

func give(t *testing.T, db *process, o Outcome, leases ...Lease) {
	t.Helper()
	for i := range leases {
		if err := db.Give(t.Context(), &leases[i], o); err != nil {
			t.Fatal(err)
		}
	}
}

func wish(t *testing.T, db *process, by string, branches ...string) {
	t.Helper()
	if err := db.Wish(t.Context(), branches, by); err != nil {
		t.Fatal(err)
	}
}

// mirror is the state of a branch.
func mirror(t *testing.T, db *process, branch string) (MirrorState, time.Time) {
	t.Helper()
	state, err := db.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range state.Mirrors {
		if state.Mirrors[i].Branch == branch {
			return state.Mirrors[i], state.At
		}
	}
	t.Fatalf("%s is not there", branch)
	return MirrorState{}, state.At
}

// TestWishedAlready: a wish for a branch that waits already writes nothing.
func TestWishedAlready(t *testing.T) {
	one, two := clusterOf(t, "p h a", "p h b")
	version := func(branch string) (version string) {
		t.Helper()
		err := one.pools.Writer.Lend(t.Context(), func(s *sqldb.Session) error {
			_, err := s.First(t.Context(), `SELECT CAST(xmin AS TEXT) FROM mirrors WHERE branch = $1`, []any{branch}, &version)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	wish(t, one, "a webhook", "p h a")
	first, other := version("p h a"), version("p h b")
	wish(t, two, "a watch", "p h b", "p h a")
	if version("p h a") != first || version("p h b") == other {
		t.Error("not only the branch that does not wait yet is written")
	}
	for branch, by := range map[string]string{"p h a": "a webhook", "p h b": "a watch"} {
		if m, at := mirror(t, two, branch); !m.Waiting(at) || m.WishedBy != by {
			t.Errorf("%s: %+v", branch, m)
		}
	}
}

// TestTake: a branch has one holder; it is due once, and again when that is wished,
// when its time has come, or when its holder has died.
func TestTake(t *testing.T) {
	one, two := clusterOf(t, "p h a")
	branches, leases := taken(t, one, room("1", time.Hour))
	if diff := cmp.Diff([]string{"p h a"}, branches); diff != "" {
		t.Fatal(diff)
	}
	if more, _ := taken(t, two, room("2", time.Hour)); more != nil {
		t.Fatalf("%q has two holders", more)
	}
	wish(t, two, "a webhook", "p h a", "unknown") // during the pull: one more follows
	if more, _ := taken(t, two, room("2", time.Hour)); more != nil {
		t.Fatalf("%q has two holders", more)
	}
	give(t, one, Outcome{Next: time.Hour}, leases...)
	if m, at := mirror(t, one, "p h a"); !m.Waiting(at) || m.WishedBy != "a webhook" || m.Succeeded.IsZero() || m.Problem != "" {
		t.Errorf("wished: %+v", m)
	}
	_, leases = taken(t, two, room("2", -time.Second)) // dies
	if len(leases) == 0 {
		t.Fatal("the wish was lost")
	}
	late := leases[0]
	_, leases = taken(t, one, room("1", time.Hour))
	if len(leases) != 1 {
		t.Fatal("nobody goes on")
	}
	if held, err := two.Renew(t.Context(), &late, time.Hour); err != nil || held {
		t.Errorf("a lost lease is renewed: %v", err)
	}
	give(t, two, Outcome{Err: errors.New("late")}, late)
	if held, err := one.Renew(t.Context(), &leases[0], 2*time.Hour); err != nil || !held {
		t.Errorf("not renewed: %v", err)
	}
	if m, at := mirror(t, one, "p h a"); m.Holder != "1" || !m.Running(at.Add(time.Hour)) || m.Problem != "" {
		t.Errorf("running: %+v", m)
	}
	give(t, one, Outcome{Err: errors.New("no route"), Next: time.Hour}, leases...)
	if m, at := mirror(t, one, "p h a"); m.Waiting(at) || m.Problem != "no route" || m.Failures != 1 || !m.Due.After(at) {
		t.Errorf("failed: %+v", m)
	}
	if more, _ := taken(t, one, room("1", time.Hour)); more != nil {
		t.Errorf("%q is due", more)
	}
	only := room("1", time.Hour)
	only.Only = "p h a"
	lease, ok, err := one.Take(t.Context(), only)
	if err != nil || !ok || lease.Failures != 1 {
		t.Errorf("the branch that is asked for: %v %v %+v", ok, err, lease)
	}
	give(t, one, Outcome{Err: errors.New("a full disk"), Excused: true}, lease)
	if m, at := mirror(t, one, "p h a"); !m.Waiting(at) || m.Problem != "a full disk" || m.Failures != 1 {
		t.Errorf("excused: %+v", m)
	}
	_, leases = taken(t, one, room("1", time.Hour))
	give(t, one, Outcome{Cut: true}, leases...)
	if m, at := mirror(t, one, "p h a"); !m.Waiting(at) || m.Problem != "a full disk" || m.Failures != 1 {
		t.Errorf("broken off: %+v", m)
	}
}

// TestTakeSharesOut: hosts and projects take turns, a host is not pulled from more
// often than it bears, and a local repository only where it is.
func TestTakeSharesOut(t *testing.T) {
	one, two := clusterOf(t, "a x 1", "a x 2", "a x 3", "a x 4", "a x 5", "a x 6", "b x 1", "c y 1", "c y 2", "d  here", "d  there")
	got, leases := taken(t, one, room("1", time.Hour))
	if diff := cmp.Diff([]string{"a x 1", "c y 1", "b x 1", "c y 2", "a x 2", "a x 3"}, got); diff != "" {
		t.Errorf("the first (-want +got):\n%s", diff)
	}
	local := room("2", time.Hour)
	local.Local = []string{"d  here"}
	if got, _ := taken(t, two, local); !slices.Equal(got, local.Local) {
		t.Errorf("local repositories: %q", got)
	}
	give(t, one, Outcome{Next: time.Hour}, leases...)
	full := room("1", time.Hour)
	full.Full = []string{"x"}
	if got, _ := taken(t, one, full); got != nil {
		t.Errorf("a host that is full: %q", got)
	}
	wish(t, one, "a webhook", "b x 1", "a x 1")
	still := room("1", time.Hour)
	if still.Pulling = []string{"b x 1", "a x 1", "a x 4", "a x 5", "a x 6"}; len(still.Pulling) > 0 {
		if got, _ := taken(t, one, still); got != nil {
			t.Errorf("branches that the process still pulls: %q", got)
		}
	}
	if got, _ := taken(t, one, room("1", time.Hour)); !slices.Equal(got, []string{"b x 1", "a x 1", "a x 4", "a x 5"}) {
		t.Errorf("wishes, then what waits: %q", got)
	}
}

// TestAdopt: the highest revision counts, then the copy that was seen first last. An
// older copy, started again, pulls nothing.
func TestAdopt(t *testing.T) {
	one, two := clusterOf(t, "p h a")
	for _, c := range []struct{ copied, newest Configuration }{
		{testCopy, testCopy},
		{Configuration{"second", 0}, Configuration{"second", 0}},
		{testCopy, Configuration{"second", 0}},
		{Configuration{"third", 3}, Configuration{"third", 3}},
		{Configuration{"fourth", 2}, Configuration{"third", 3}},
		{Configuration{"fifth", 0}, Configuration{"third", 3}},
		{Configuration{"sixth", 3}, Configuration{"sixth", 3}},
		{Configuration{"third", 3}, Configuration{"sixth", 3}},
	} {
		if newest := adopt(t, two, c.copied, "p h b"); newest != c.newest {
			t.Errorf("%v: the newest is %v, want %v", c.copied, newest, c.newest)
		}
	}
	if got, _ := taken(t, one, room("1", time.Hour)); got != nil {
		t.Errorf("an older copy has %q pulled", got)
	}
	current := room("1", time.Hour)
	current.Configuration = "sixth"
	if got, _ := taken(t, one, current); !slices.Equal(got, []string{"p h b"}) {
		t.Errorf("the newest copy has %q pulled", got)
	}
}

// TestProcesses: processes are known from their start to their end.
func TestProcesses(t *testing.T) {
	one, two := clusterOf(t)
	want := []Process{
		{ID: "a", Machine: "m", PID: 1, Work: "serve", Version: "v", Configuration: "first", Lacks: []string{}},
		{ID: "b", Machine: "n", PID: 2, Work: "pull", Version: "v", Configuration: "second", Problem: "no room", Lacks: []string{"a#main", "b#main"}},
	}
	seen := func(db *process, p *Process, told bool) {
		t.Helper()
		if err := db.Seen(t.Context(), p, told); err != nil {
			t.Fatal(err)
		}
	}
	for i, db := range []*process{one, two, one} {
		seen(db, &want[i%2], i == 1) // an unknown one is recorded whatever it told
	}
	later := want[1]
	later.Lacks = nil
	seen(two, &later, true) // the list is not written again
	processes := func() []Process {
		state, err := one.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range state.Processes {
			p := &state.Processes[i]
			if p.Started.IsZero() || p.Seen.Before(p.Started) || p.Seen.After(state.At) {
				t.Errorf("%+v at %v", p, state.At)
			}
			p.Started, p.Seen = time.Time{}, time.Time{}
		}
		return state.Processes
	}
	if diff := cmp.Diff(want, processes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := two.Leave(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[1:], processes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStuck: a branch is stuck if it waits and all processes that pull say that they
// cannot take it.
func TestStuck(t *testing.T) {
	now := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }
	can := Process{ID: "can", Work: WorkPull, Seen: ago(1)}
	lacks := Process{ID: "lacks", Work: WorkServe, Seen: ago(1), Lacks: []string{"a", "b", "c"}}
	full := Process{ID: "full", Work: WorkPull, Seen: ago(1), Problem: "no room"}
	answers := Process{ID: "answers", Work: "serve --no-pull", Seen: ago(1)}
	dead := Process{ID: "dead", Work: WorkPull, Seen: ago(16)}
	older := Process{ID: "older", Work: WorkPull, Seen: ago(1), Configuration: "older"}
	due := MirrorState{Mirror: Mirror{Branch: "b"}, Due: ago(20), Ended: ago(100)}
	for name, c := range map[string]struct {
		processes []Process
		m         MirrorState
		want      string
	}{
		"one has it":        {[]Process{lacks, can, full}, due, ""},
		"nobody has it":     {[]Process{lacks, answers, dead, older, lacks}, due, Nowhere},
		"no room":           {[]Process{lacks, full, lacks}, due, "no room"},
		"nobody pulls":      {[]Process{answers, dead}, due, ""},
		"older copies":      {[]Process{answers, dead, older}, due, Outdated},
		"no room but older": {[]Process{full, older}, due, "no room"},
		"another branch":    {[]Process{lacks}, MirrorState{Mirror: Mirror{Branch: "d"}, Due: ago(20)}, ""},
		"not due":           {[]Process{lacks}, MirrorState{Mirror: due.Mirror, Due: ago(-9)}, ""},
		"just due":          {[]Process{lacks}, MirrorState{Mirror: due.Mirror, Due: ago(15)}, ""},
		"wished":            {[]Process{lacks}, MirrorState{Mirror: due.Mirror, Due: ago(-9), Wished: ago(20)}, Nowhere},
		"due before a wish": {[]Process{lacks}, MirrorState{Mirror: due.Mirror, Due: ago(20), Wished: ago(1)}, Nowhere},
		"pulled":            {[]Process{lacks}, MirrorState{Mirror: due.Mirror, Due: ago(20), Holder: "lacks", Expires: ago(-1)}, ""},
		"its holder died":   {[]Process{lacks}, MirrorState{Mirror: due.Mirror, Holder: "dead", Expires: ago(20)}, Nowhere},
	} {
		s := &State{At: now, Processes: c.processes}
		if got := s.Stuck(&c.m); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
