package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

const generationHeader = "X-Repoglot-Generation"

// generationWorld has a public and a private component, and two processes that
// answer: one writes, the other does not look by itself.
type generationWorld struct {
	*catalogtest.Store
	writer, reader *api.Server
	repos          []*testrepos.Repo
	specs          []store.ComponentSpec
	token          string
}

func newGenerationWorld(t *testing.T) *generationWorld {
	t.Helper()
	w := &generationWorld{Store: catalogtest.Open(t)}
	for range 2 {
		w.repos = append(w.repos, testrepos.Empty(t))
	}
	w.specs = []store.ComponentSpec{
		differenceSpec("demo", "app", w.repos[0], "po/*.po", ""), differenceSpec("demo", "hidden", w.repos[1], "po/*.po", catalog.AccessPrivate),
	}
	if err := w.DB.Configure(t.Context(), []catalog.Project{{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}}, w.specs, nil); err != nil {
		t.Fatal(err)
	}
	w.commit(t, 1, "Nazdar")
	w.push(t, 0, "Ahoj")
	var err error
	if w.token, err = w.DB.Access().CreateToken(t.Context(), catalog.Token{Name: "t", Scope: catalog.ScopeRead, Created: differenceNow()}); err != nil {
		t.Fatal(err)
	}
	w.writer, w.reader = w.server(w.DB), w.server(w.other(store.Options{PollInterval: time.Hour}).DB)
	return w
}

// other opens the database once more, as another process would.
func (w *generationWorld) other(opts store.Options) *catalogtest.Store {
	other := catalogtest.At(w.TB, w.Dir)
	other.Options = opts
	other.Open()
	return other
}

func (w *generationWorld) server(db *store.DB) *api.Server {
	return api.New(api.Options{DB: db, Languages: w.Languages, Now: differenceNow, CacheBytes: 1 << 20})
}

// push commits a text and pulls it.
func (w *generationWorld) push(t *testing.T, repo int, text string) {
	t.Helper()
	w.commit(t, repo, text)
	catalogtest.PullAll(w.Store, differenceNow, w.specs)
}

func (w *generationWorld) commit(t *testing.T, repo int, text string) {
	t.Helper()
	w.repos[repo].Commit(t, testrepos.Change{Files: map[string]string{
		"po/cs.po": "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"Hello\"\nmsgstr \"" + text + "\"\n",
	}})
}

const generationTarget = "/api/translations/demo/app/cs/units/"

// TestGenerations: a client that sends back what it saw is shown nothing older by
// another process, on an answer that was kept too. Without it a process may be behind.
func TestGenerations(t *testing.T) {
	t.Parallel()
	w := newGenerationWorld(t)
	if a := ask(w.reader, generationTarget); !strings.Contains(a.Body.String(), "Ahoj") {
		t.Fatal(a.Body)
	}
	w.push(t, 0, "Dobrý den")
	seen := ask(w.writer, generationTarget)
	if behind := ask(w.reader, generationTarget); !strings.Contains(behind.Body.String(), "Ahoj") || behind.Header().Get(generationHeader) == seen.Header().Get(generationHeader) {
		t.Errorf("the other process is not behind: the test shows nothing: %s", behind.Header())
	}
	got := ask(w.reader, generationTarget, generationHeader, seen.Header().Get(generationHeader))
	if got.Body.String() != seen.Body.String() || got.Header().Get("ETag") != seen.Header().Get("ETag") || got.Header().Get(generationHeader) != seen.Header().Get(generationHeader) {
		t.Errorf("%s\n%v is not\n%s\n%v", got.Body, got.Header(), seen.Body, seen.Header())
	}
	if again := ask(w.reader, generationTarget, "If-None-Match", seen.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Header().Get(generationHeader) != seen.Header().Get(generationHeader) {
		t.Errorf("%d %v", again.Code, again.Header())
	}
	if none := ask(w.reader, "/api/units/1/"); none.Code != http.StatusNotFound || none.Header().Get(generationHeader) != seen.Header().Get(generationHeader) {
		t.Errorf("%d %v", none.Code, none.Header())
	}
}

// TestGenerationUnknown: a state that the database does not have is answered at once,
// and the answer says so. Anything else is ignored.
func TestGenerationUnknown(t *testing.T) {
	t.Parallel()
	w := newGenerationWorld(t)
	at := ask(w.reader, generationTarget).Header().Get(generationHeader)
	number, history, ok := strings.Cut(at, "-")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || len(history) != 16 {
		t.Fatalf("%q", at)
	}
	for value, want := range map[string]string{
		at: "", strconv.Itoa(n+1) + "-" + history: "generation", "9223372036854775807-" + history: "generation",
		"1-0123456789abcdef": "history", "1-": "history",
		"": "", "1": "", "-1-" + history: "", "x-" + history: "", "9223372036854775808-" + history: "",
	} {
		got := ask(w.reader, generationTarget, generationHeader, value)
		if got.Code != http.StatusOK || got.Header().Get("X-Repoglot-Generation-Unknown") != want || got.Header().Get(generationHeader) != at {
			t.Errorf("%q: %d %v, want %q", value, got.Code, got.Header(), want)
		}
	}
}

// TestGenerationOfStrangers: strangers do not learn when private components are
// pulled, from the header or by asking for generations to come.
func TestGenerationOfStrangers(t *testing.T) {
	t.Parallel()
	w := newGenerationWorld(t)
	before := ask(w.writer, generationTarget).Header().Get(generationHeader)
	withToken := ask(w.writer, generationTarget, "Authorization", "Token "+w.token).Header().Get(generationHeader)
	w.push(t, 1, "Čau")
	if after := ask(w.writer, generationTarget).Header().Get(generationHeader); after != before {
		t.Errorf("%q was %q", after, before)
	}
	now := ask(w.writer, generationTarget, "Authorization", "Token "+w.token).Header().Get(generationHeader)
	if now == withToken || now == before {
		t.Errorf("%q was %q, %q for strangers", now, withToken, before)
	}
	if got := ask(w.writer, generationTarget, generationHeader, now).Header().Get("X-Repoglot-Generation-Unknown"); got != "generation" {
		t.Errorf("a stranger asks for %s: %q", now, got)
	}
}

// TestGenerationUnavailable: if the database cannot be asked, or too many wait for it,
// the request is to be repeated; requests that name nothing newer are answered.
func TestGenerationUnavailable(t *testing.T) {
	t.Parallel()
	w := newGenerationWorld(t)
	busy := w.other(store.Options{PollInterval: time.Hour, Readers: 1})
	kept := w.server(busy.DB)
	old := ask(kept, generationTarget).Header().Get(generationHeader)
	w.push(t, 0, "Dobrý den")
	newer := ask(w.writer, generationTarget).Header().Get(generationHeader)
	free := api.FillCatchingUp(w.reader)
	refused(t, ask(w.reader, generationTarget, generationHeader, newer))
	free()
	read, hang := make(chan struct{}), make(chan struct{})
	go func() { // takes the only snapshot of the process
		_ = busy.DB.Read(context.Background(), func(context.Context, *store.Snapshot) error {
			close(read)
			<-hang
			return nil
		})
	}()
	<-read
	defer close(hang)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://l10n.example.org"+generationTarget, nil)
	r.Header.Set(generationHeader, newer)
	rec := httptest.NewRecorder()
	kept.ServeHTTP(rec, r)
	refused(t, rec)
	if got := ask(kept, generationTarget, generationHeader, old); got.Code != http.StatusOK {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

func refused(t *testing.T, got *httptest.ResponseRecorder) {
	t.Helper()
	if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") != "1" {
		t.Errorf("%d %v %s", got.Code, got.Header(), got.Body)
	}
}
