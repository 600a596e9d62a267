package push_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/testrepos"
)

// incomingWorld is a world whose repository has requests of others on a forge.
type incomingWorld struct {
	*world
	fake  *testrepos.Forge
	fork  *gittest.Upstream[object.Hash]
	first object.Hash
	asked []string // repositories by path that git was to ask
}

// dated is the file with texts and a date of its header.
func dated(one, two, date string) string {
	return strings.Replace(texts(one, two), "2020-01-01", date, 1)
}

func newIncomingWorld(t *testing.T, kind string) *incomingWorld {
	t.Helper()
	w := &incomingWorld{world: newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushRequest}}), fork: gittest.NewUpstream[object.Hash](t)}
	w.fake = &testrepos.Forge{Kind: kind, Repository: "own/app", Token: forgeSecret}
	server := httptest.NewTLSServer(w.fake)
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		if problems := w.fake.Problems(); len(problems) > 0 {
			t.Errorf("the forge was sent: %q", problems)
		}
	})
	var err error
	w.to.Forge, err = forge.New(forge.Options{Kind: kind, URL: server.URL, Repository: "own/app", Token: forgeSecret, Transport: server.Client().Transport, Now: func() time.Time { return w.Clock }})
	gittest.Must(t, err)
	w.to.Git = func(path string) (r remote.Repository) {
		w.asked = append(w.asked, path)
		r.URL = map[string]string{"": w.up.Dir, "own/app": w.up.Dir, "somebody/fork": w.fork.Dir}[path]
		return r
	}
	w.first = w.head("main")
	return w
}

// request adds a request of a fork, whose commit the forge shows in the repository, too.
func (w *incomingWorld) request(branch string, files gittest.Files, r testrepos.ForgeRequest) object.Hash {
	w.t.Helper()
	w.fork.Push("Guest", gittest.Files{"po/cs.po": file, "other": "x"}) // the same commit as the first one has
	h := w.up.Commit("Guest", files, w.first)
	gittest.RunGit(w.t, w.up.Dir, "update-ref", "refs/pull/"+branch, h.String())
	gittest.RunGit(w.t, w.fork.Dir, "fetch", "-q", w.up.Dir, "+refs/pull/"+branch+":refs/heads/"+branch)
	r.State, r.Head, r.Base, r.Fork, r.Commit, r.Title = "open", branch, "main", true, h.String(), "About "+branch
	w.fake.Add(r)
	return h
}

func (w *incomingWorld) look() error {
	w.t.Helper()
	return w.pusher.Look(w.t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return w.to })
}

// incomings are what the component shows.
func (w *incomingWorld) incomings() (l catalog.Incomings, component int64) {
	w.t.Helper()
	w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) (err error) {
		component = c.ID
		l, err = snap.Incomings(ctx, c.ID)
		return err
	})
	return l, component
}

// shown writes them one in a line.
func (w *incomingWorld) shown() string {
	w.t.Helper()
	l, _ := w.incomings()
	lines := []string{strings.TrimSpace(l.Problem + " " + l.Failed)}
	for _, r := range l.List {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d: %d strings, %d conflicts, %v %s %s", r.Number, r.Strings, r.Conflicts, r.Mergeable(), r.Problem, r.Failed)))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func (w *incomingWorld) wantShown(want, when string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.shown()); diff != "" {
		w.t.Errorf("%s (-want +got)\n%s", when, diff)
	}
}

// wish wishes a merge of a request that is shown.
func (w *incomingWorld) wish(number int, head object.Hash) error {
	w.t.Helper()
	_, id := w.incomings()
	return w.DB.WishMerge(w.t.Context(), id, number, head.String(), catalog.MergeWish{Name: "Ada Admin", Email: "ada@example.org", At: w.Clock})
}

// TestIncoming: a component shows the requests with its files that git no longer merges, and
// what merging them by meaning comes to, on each forge, until they end.
func TestIncoming(t *testing.T) {
	for _, kind := range forge.Kinds() {
		t.Run(kind, func(t *testing.T) {
			w := newIncomingWorld(t, kind)
			po := func(text string) gittest.Files { return gittest.Files{"po/cs.po": text, "other": "x"} }
			w.request("clean", po(file+"\nmsgid \"Three\"\nmsgstr \"Tři\"\n"), testrepos.ForgeRequest{})
			w.request("meaning", po(dated("", "Dva", "2020-01-03")), testrepos.ForgeRequest{Editable: true})
			w.request("forbidden", po(dated("", "Dvojka", "2020-01-04")), testrepos.ForgeRequest{})
			w.request("conflict", po(dated("Jednička", "Dvě", "2020-01-05")), testrepos.ForgeRequest{Editable: true})
			w.request("elsewhere", gittest.Files{"po/cs.po": dated("", "Dva", "2020-01-06"), "other": "y"}, testrepos.ForgeRequest{Editable: true})
			w.request("code", gittest.Files{"po/cs.po": file, "other": "y"}, testrepos.ForgeRequest{Editable: true})
			w.request("broken", po("broken"), testrepos.ForgeRequest{Editable: true})
			w.fake.Add(testrepos.ForgeRequest{State: "open", Head: "gone", Base: "main", Commit: strings.Repeat("1", 40), Fork: true})
			w.fake.Add(testrepos.ForgeRequest{State: "open", Head: "odd", Base: "main", Commit: "odd", Fork: true})
			w.fake.Add(testrepos.ForgeRequest{State: "open", Head: "says", Base: "main", Commit: strings.Repeat("2", 40), Fork: true, Merges: true})
			w.fake.Add(testrepos.ForgeRequest{State: "open", Head: "topic", Base: "stable", Commit: strings.Repeat("3", 40), Fork: true})
			gittest.Must(t, w.look())
			if got := w.shown(); strings.Count(got, "\n") > 2 || !strings.Contains(got, "its head cannot be fetched") {
				t.Errorf("on the same commit: %s", got)
			}
			w.up.Push("Other", gittest.Files{"po/cs.po": dated("Jedna", "Dvě", "2020-01-02"), "other": "z"}, w.first)
			w.Sync()
			w.Clock = w.Clock.Add(2 * time.Minute)
			gittest.Must(t, w.look())
			lines := []string{}
			for line := range strings.Lines(w.shown()) {
				line = strings.TrimSpace(line)
				if before, words, ok := strings.Cut(line, "fetched "); ok && words != "" {
					line = before + "fetched"
				}
				line, _, _ = strings.Cut(line, " meaning: ours")
				lines = append(lines, line)
			}
			want := []string{
				"7: 0 strings, 0 conflicts, false \"po/cs.po\": not merged by", `5: 0 strings, 0 conflicts, false it cannot be merged by meaning: "other" conflicts, too`,
				"4: 2 strings, 1 conflicts, false", "3: 3 strings, 0 conflicts, false", "2: 3 strings, 0 conflicts, true",
			}
			if kind == "github" { // whose list does not say that it merges
				want = append([]string{"10: 0 strings, 0 conflicts, false its head cannot be fetched"}, want...)
			}
			want = append(want[:len(want)-5:len(want)-5], append([]string{"8: 0 strings, 0 conflicts, false its head cannot be fetched"}, want[len(want)-5:]...)...)
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for n := range w.fake.Requests() {
				w.fake.End(n+1, "closed")
			}
			before := w.shown()
			gittest.Must(t, w.look())
			w.wantShown(before, "before the next look")
			soon := w.pusher.LookDue(w.Branch)
			w.Clock = w.Clock.Add(2 * time.Minute)
			if due := w.pusher.LookDue(w.Branch); soon || !due || w.pusher.LookDue(w.Branch) {
				t.Errorf("a look that was missed is due in its pause: %v, after it: %v, or twice", soon, due)
			}
			gittest.Must(t, w.look())
			w.wantShown("", "closed")
			gittest.Must(t, filepath.WalkDir(w.Mirrors(), func(path string, _ os.DirEntry, err error) error {
				if strings.HasSuffix(path, "guests") {
					t.Errorf("%s is left", path)
				}
				return err
			}))
		})
	}
}

// TestIncomingMerge: a wished merge is pushed to the branch of the request, with both parents
// and the authors of both, if the branch is where it was shown and its author lets maintainers;
// other repositories are not asked.
func TestIncomingMerge(t *testing.T) {
	for _, kind := range forge.Kinds() {
		t.Run(kind, func(t *testing.T) {
			w := newIncomingWorld(t, kind)
			head := w.request("topic", gittest.Files{"po/cs.po": dated("", "Dva", "2020-01-03"), "other": "x"}, testrepos.ForgeRequest{Editable: true})
			into := w.up.Push("Other", gittest.Files{"po/cs.po": dated("Jedna", "Dvě", "2020-01-02"), "other": "z"}, w.first)
			w.Sync()
			gittest.Must(t, w.look())
			w.wantShown("1: 3 strings, 0 conflicts, true", "at first")
			if err := w.wish(1, into); !errors.Is(err, catalog.ErrConflict) {
				t.Errorf("another head: %v", err)
			}

			// The branch moves, and the forge does not say so yet.
			gittest.Must(t, w.wish(1, head))
			moved := w.up.Commit("Guest", gittest.Files{"po/cs.po": file}, head)
			gittest.RunGit(t, w.up.Dir, "update-ref", "refs/pull/topic", moved.String())
			gittest.RunGit(t, w.fork.Dir, "fetch", "-q", w.up.Dir, "+refs/pull/topic:refs/heads/topic")
			gittest.Must(t, w.look())
			if got := w.shown(); !strings.Contains(got, "branch has moved") || !strings.HasPrefix(got, "1: 3 strings, 0 conflicts, true") {
				t.Errorf("a branch that moved: %s", got)
			}
			gittest.RunGit(t, w.fork.Dir, "update-ref", "refs/heads/topic", head.String())
			before := w.shown()
			w.Clock = w.Clock.Add(2 * time.Minute)
			gittest.Must(t, w.look())
			w.wantShown(before, "a wish that failed is not tried again")

			w.asked = nil
			gittest.Must(t, w.wish(1, head))
			gittest.Must(t, w.look()) // there is no pause after a wish
			w.wantShown("", "merged")
			if got := gittest.RunGit(t, w.fork.Dir, "log", "-1", "--format=%P|%an <%ae>|%cn|%s", "topic"); got != fmt.Sprintf("%s %s|Ada Admin <ada@example.org>|repoglot|Merge branch 'main' into topic", head, into) {
				t.Errorf("pushed: %s", got)
			}
			got := gittest.RunGit(t, w.fork.Dir, "show", "topic:po/cs.po") + gittest.RunGit(t, w.fork.Dir, "show", "topic:other")
			if !strings.Contains(got, "Jedna") || !strings.Contains(got, "Dva") || strings.Contains(got, "<<<") || !strings.HasSuffix(got, "z") {
				t.Errorf("its files:\n%s", got)
			}
			for _, path := range w.asked {
				if path != "" && path != "somebody/fork" {
					t.Errorf("%q was asked", path)
				}
			}
			if refs := gittest.RunGit(t, w.up.Dir, "for-each-ref", "--format=%(refname)", "refs/heads"); refs != "refs/heads/main" {
				t.Errorf("the repository has %s", refs)
			}
		})
	}
}

// TestIncomingPauses: a forge that wants no requests is left alone for as long as it says, by
// wishes, too, one that fails for longer and longer, and what was known stays.
func TestIncomingPauses(t *testing.T) {
	w := newIncomingWorld(t, "gitea")
	head := w.request("topic", gittest.Files{"po/cs.po": dated("", "Dva", "2020-01-03"), "other": "x"}, testrepos.ForgeRequest{Editable: true})
	w.up.Push("Other", gittest.Files{"po/cs.po": dated("Jedna", "Dvě", "2020-01-02"), "other": "x"}, w.first)
	w.Sync()
	gittest.Must(t, w.look())
	calls := 0
	status, retry := http.StatusInternalServerError, ""
	w.fake.Hook = func(rw http.ResponseWriter, _ *http.Request) bool {
		calls++
		rw.Header().Set("Retry-After", retry)
		rw.WriteHeader(status)
		return true
	}
	for range 60 {
		w.Clock = w.Clock.Add(time.Minute)
		_ = w.look()
	}
	if calls != 6 { // after 1, 1, 2, 4, 8, 16 minutes
		t.Errorf("%d calls in an hour", calls)
	}
	if got := w.shown(); !strings.Contains(got, "the forge does not answer") || !strings.HasSuffix(got, "1: 3 strings, 0 conflicts, true") {
		t.Errorf("shown: %s", got)
	}
	status, retry = http.StatusTooManyRequests, "1800"
	w.Clock = w.Clock.Add(time.Hour)
	_ = w.look()
	gittest.Must(t, w.wish(1, head))
	calls = 0
	for range 29 {
		w.Clock = w.Clock.Add(time.Minute)
		gittest.Must(t, w.look())
	}
	if calls != 0 {
		t.Errorf("%d calls while the forge wants none", calls)
	}
	w.fake.Hook = nil
	w.Clock = w.Clock.Add(2 * time.Minute)
	gittest.Must(t, w.look())
	w.wantShown("", "merged")
}

// TestIncomingPrivate: beside a private component of another project nothing is shown.
func TestIncomingPrivate(t *testing.T) {
	w := newIncomingWorld(t, "forgejo")
	w.request("topic", gittest.Files{"po/cs.po": dated("", "Dva", "2020-01-03"), "other": "x"}, testrepos.ForgeRequest{Editable: true})
	w.up.Push("Other", gittest.Files{"po/cs.po": dated("Jedna", "Dvě", "2020-01-02"), "other": "x"}, w.first)
	w.Sync()
	gittest.Must(t, w.look())
	w.wantShown("1: 3 strings, 0 conflicts, true", "alone")
	demo := w.Branch.Components[0].Spec
	settings := catalog.ComponentSettings{Filemask: "l10n/*.po", Edits: catalog.Edits{Mode: catalog.PushRequest}}
	b, specs, templates := catalogtest.BranchOf(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": demo.Settings, "hidden": settings})
	for _, access := range []catalog.Access{catalog.AccessPrivate, ""} {
		specs[1].Project, b.Components[1].Spec.Project = "secret", "secret"
		gittest.Must(t, w.DB.Configure(t.Context(), []catalog.Project{{Slug: "demo"}, {Slug: "secret", Settings: catalog.ProjectSettings{Access: access}}}, specs, templates))
		w.up.Push("Other", gittest.Files{"po/cs.po": dated("Jedna", "Dvě", "2020-01-02"), "l10n/de.po": file, "other": string(access)}, w.head("main"))
		w.Branch = b
		w.Sync()
		w.Clock = w.Clock.Add(2 * time.Minute)
		gittest.Must(t, w.look())
		for slug, want := range map[string]int{"app": map[bool]int{false: 1}[access != ""], "hidden": 0} {
			w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
				l, err := snap.Incomings(ctx, c.ID)
				if c.Slug == slug && len(l.List) != want {
					t.Errorf("beside a project of access %q %s shows %+v", access, slug, l)
				}
				return err
			})
		}
	}
}

// TestIncomingOurs: the requests of this server are none of others, and without a forge, or a
// git program that merges trees, nothing is shown but why.
func TestIncomingOurs(t *testing.T) {
	w := newIncomingWorld(t, "github")
	w.pusher.Logger = slog.New(slog.DiscardHandler)
	w.edit("One", "Jedna")
	w.flush()
	w.up.Push("Other", gittest.Files{"po/cs.po": dated("Jednička", "Dvě", "2020-01-02"), "other": "x"}, w.first)
	head := w.head(ours)
	for i, r := range w.fake.Requests() {
		if r.Head != ours {
			t.Fatalf("%+v", r)
		}
		w.fake.Change(i+1, func(r *testrepos.ForgeRequest) { r.Commit = head.String() })
	}
	w.Sync()
	gittest.Must(t, w.look())
	w.wantShown("", "a request of ours")
	w.request("topic", gittest.Files{"po/cs.po": dated("", "Dva", "2020-01-03"), "other": "x"}, testrepos.ForgeRequest{})
	w.Clock = w.Clock.Add(2 * time.Minute)
	gittest.Must(t, w.look())
	w.wantShown("2: 3 strings, 0 conflicts, false", "one of somebody")
	w.Change = func(o *ingest.Options) { o.Git.Remote.Transport = "builtin" }
	w.Syncer = w.NewSyncer(func() time.Time { return w.Clock })
	w.newPusher()
	gittest.Must(t, w.look())
	if got := w.shown(); !strings.Contains(got, "git 2.38 or newer") || strings.Contains(got, "\n") {
		t.Errorf("without git: %s", got)
	}
	w.to.Forge = nil
	gittest.Must(t, w.look())
	w.wantShown("", "without a forge")
}

// TestIncomingOfTwo: a merge that is wished in one process is pushed once, by another one, or by
// that of both that is faster.
func TestIncomingOfTwo(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		w := newIncomingWorld(t, "gitea")
		head := w.request("topic", gittest.Files{"po/cs.po": dated("", "Dva", "2020-01-03"), "other": "x"}, testrepos.ForgeRequest{Editable: true})
		w.up.Push("Other", gittest.Files{"po/cs.po": dated("Jedna", "Dvě", "2020-01-02"), "other": "x"}, w.first)
		w.Sync()
		other := *w
		other.world = w.another()
		other.pusher.Logger = slog.New(slog.DiscardHandler)
		other.Sync() // its mirror
		gittest.Must(t, w.look())
		if !atOnce {
			gittest.Must(t, other.look())
		}
		gittest.Must(t, w.wish(1, head))
		faster := ""
		if atOnce {
			during := meanwhile(func() {
				unsigned := other
				unsigned.to.Signer = nil
				gittest.Must(t, unsigned.look())
				faster = gittest.RunGit(t, w.fork.Dir, "rev-parse", "topic")
			})
			w.to.Signer, w.pusher.Logger = &during, slog.New(slog.DiscardHandler)
			gittest.Must(t, w.look())
		} else {
			gittest.Must(t, other.look())
		}
		merged := gittest.RunGit(t, w.fork.Dir, "rev-parse", "topic")
		if atOnce && merged != faster || merged == head.String() {
			t.Errorf("at once: %v: the branch is at %s, and the faster one pushed %s", atOnce, merged, faster)
		}
		for range 3 {
			w.Clock = w.Clock.Add(2 * time.Minute)
			gittest.Must(t, w.look())
			gittest.Must(t, other.look())
		}
		if n := gittest.RunGit(t, w.fork.Dir, "rev-list", "--count", "--first-parent", head.String()+"..topic"); n != "1" || gittest.RunGit(t, w.fork.Dir, "rev-parse", "topic") != merged {
			t.Errorf("at once: %v: %s commits after the request", atOnce, n)
		}
		gittest.RunGit(t, w.up.Dir, "fetch", "-q", w.fork.Dir, "+refs/heads/topic:refs/pull/topic")
		w.fake.Change(1, func(r *testrepos.ForgeRequest) { r.Commit = merged })
		w.Clock = w.Clock.Add(2 * time.Minute)
		gittest.Must(t, w.look())
		w.wantShown("", "merged, and the forge says so")
	}
}

// TestIncomingLarge: a head with more than 64 MiB of new objects is refused and named, and takes no
// room; others are looked at.
func TestIncomingLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it writes 65 MB")
	}
	w := newIncomingWorld(t, "gitea")
	noise := make([]byte, 65<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	w.request("large", gittest.Files{"po/cs.po": dated("", "Dva", "2020-01-03"), "other": string(noise)}, testrepos.ForgeRequest{Editable: true})
	w.request("small", gittest.Files{"po/cs.po": dated("", "Dva", "2020-01-03"), "other": "x"}, testrepos.ForgeRequest{Editable: true})
	w.up.Push("Other", gittest.Files{"po/cs.po": dated("Jedna", "Dvě", "2020-01-02"), "other": "x"}, w.first)
	w.Sync()
	gittest.Must(t, w.look())
	if got := strings.Split(w.shown(), "\n"); len(got) != 2 || got[0] != "2: 3 strings, 0 conflicts, true" || !strings.HasPrefix(got[1], "1: 0 strings, 0 conflicts, false its head cannot be fetched") || !strings.Contains(got[1], "64 MiB") && !strings.Contains(got[1], "67108864") {
		t.Errorf("shown: %q", got)
	}
	size := int64(0)
	gittest.Must(t, filepath.WalkDir(w.Mirrors(), func(_ string, e os.DirEntry, err error) error {
		if info, infoErr := e.Info(); err == nil && infoErr == nil && !e.IsDir() {
			size += info.Size()
		}
		return err
	}))
	if size > 1<<20 {
		t.Errorf("the mirror takes %d MiB", size>>20)
	}
}
