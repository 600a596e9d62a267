package forge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/testrepos"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "t0ken-very-secret"

// kinds are the forges, each with a path of a repository.
func kinds() map[string]string {
	paths := map[string]string{}
	for _, kind := range Kinds() {
		paths[kind] = "hello/app"
	}
	paths["gitlab"] = "group/sub/app"
	return paths
}

// serve returns a fake and its client. All addresses lead to the fake, so that the real
// ones can be used.
func serve(t *testing.T, kind string) (*testrepos.Forge, Forge) {
	t.Helper()
	fake := &testrepos.Forge{Kind: kind, Repository: kinds()[kind], Token: secret}
	server := httptest.NewTLSServer(fake)
	t.Cleanup(server.Close)
	f, err := New(options(kind, server))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if problems := fake.Problems(); len(problems) > 0 {
			t.Errorf("what was sent: %q", problems)
		}
	})
	return fake, f
}

func options(kind string, server *httptest.Server) Options {
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	return Options{
		Kind: kind, URL: "https://example.com", Repository: kinds()[kind], Token: secret, Transport: transport,
		Now: func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) },
	}
}

// TestForges opens, finds, updates and reads requests on each forge.
func TestForges(t *testing.T) {
	for kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			fake, f := serve(t, kind)
			ctx := t.Context()
			fake.Add(testrepos.ForgeRequest{State: "open", Head: "l10n", Base: "main", Title: "a fork's branch", Fork: true})
			fake.Add(testrepos.ForgeRequest{State: "open", Head: "l10n", Base: "stable", Title: "into another branch"})
			fake.Add(testrepos.ForgeRequest{State: "closed", Head: "l10n", Base: "main", Title: "refused"})
			if r, ok, err := f.Find(ctx, "l10n", "main"); ok || err != nil {
				t.Fatalf("found %v, %v", r, err)
			}
			draft := Draft{Head: "l10n", Base: "main", Title: "Translations", Body: "text"}
			opened, err := f.Open(ctx, draft)
			if err != nil {
				t.Fatal(err)
			}
			if opened.Number != 4 || opened.State != Open || opened.Title != "Translations" || opened.Body != "text" || !strings.HasPrefix(opened.URL, "https://example.com/") {
				t.Errorf("opened %+v", opened)
			}
			if _, err := f.Open(ctx, draft); !errors.Is(err, ErrExists) {
				t.Errorf("opened twice: %v", err)
			}
			if r, ok, err := f.Find(ctx, "l10n", "main"); !ok || err != nil || r != opened {
				t.Errorf("found %+v, %v, %v", r, ok, err)
			}
			updated, err := f.Update(ctx, Request{Number: 4, Title: "New", Body: "other text"})
			if err != nil || updated.Title != "New" || updated.Body != "other text" || updated.Number != 4 {
				t.Errorf("updated %+v, %v", updated, err)
			}
			if r, err := f.Read(ctx, 4); err != nil || r != updated {
				t.Errorf("read %+v, %v", r, err)
			}
			if err := f.Close(ctx, 4); err != nil || fake.Requests()[3].State != "closed" || fake.Requests()[3].Title != "New" {
				t.Errorf("closed: %+v, %v", fake.Requests()[3], err)
			}
			for _, state := range []State{Merged, Closed} {
				fake.End(4, string(state))
				if r, err := f.Read(ctx, 4); err != nil || r.State != state {
					t.Errorf("read %+v, %v, want %s", r, err, state)
				}
			}
			if _, ok, err := f.Find(ctx, "l10n", "main"); ok || err != nil {
				t.Errorf("a closed request is found: %v", err)
			}
			if _, err := f.Read(ctx, 99); !errors.Is(err, ErrNotFound) {
				t.Errorf("no such request: %v", err)
			}
			long, err := f.Update(ctx, Request{Number: 4, Title: strings.Repeat("č ", 300), Body: strings.Repeat("č", MaxBody)})
			if err != nil || len([]rune(long.Title)) != maxTitle || len(long.Body) > MaxBody+3 {
				t.Errorf("%d characters, %d bytes, %v", len([]rune(long.Title)), len(long.Body), err)
			}
		})
	}
}

// TestManyRequests finds a request behind those of other branches.
func TestManyRequests(t *testing.T) {
	for kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			fake, f := serve(t, kind)
			for i := range 120 {
				fake.Add(testrepos.ForgeRequest{State: "open", Head: fmt.Sprint("l10n", i), Base: "main"})
			}
			if r, ok, err := f.Find(t.Context(), "l10n0", "main"); !ok || err != nil || r.Number != 1 {
				t.Errorf("found %+v, %v, %v", r, ok, err)
			}
			if r, ok, err := f.Find(t.Context(), "l10n", "main"); ok || err != nil {
				t.Errorf("found %+v, %v", r, err)
			}
		})
	}
}

// TestList reads the open requests of all into a branch, with what decides whether they can be
// pushed to.
func TestList(t *testing.T) {
	for kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			fake, f := serve(t, kind)
			fake.Add(testrepos.ForgeRequest{State: "open", Head: "own", Base: "main", Title: "Own", Commit: "c1", Merges: true})
			fake.Add(testrepos.ForgeRequest{State: "open", Head: "theirs", Base: "main", Fork: true, Editable: true, Commit: "c2"})
			fake.Add(testrepos.ForgeRequest{State: "open", Head: "theirs", Base: "main", Fork: true, From: "x/y", Commit: "c3"})
			fake.Add(testrepos.ForgeRequest{State: "open", Head: "own", Base: "stable"})
			fake.Add(testrepos.ForgeRequest{State: "closed", Head: "own", Base: "main"})
			list, more, err := f.List(t.Context(), "main")
			if err != nil || more || len(list) != 3 {
				t.Fatalf("%+v, %v, %v", list, more, err)
			}
			if own := list[2]; own.Number != 1 || own.Commit != "c1" || own.Branch != "own" || own.Repository != kinds()[kind] || !own.Editable || own.Merges != (kind != "github") || own.Title != "Own" {
				t.Errorf("a branch of the repository: %+v", own)
			}
			for number, want := range map[int]Request{
				1: {Commit: "c1", Branch: "own", Repository: kinds()[kind], Editable: true, Merges: true},
				2: {Commit: "c2", Branch: "theirs", Repository: "somebody/fork", Editable: true},
				3: {Commit: "c3", Branch: "theirs", Repository: "x/y"},
			} {
				r, err := f.Read(t.Context(), number)
				got := Request{Commit: r.Commit, Branch: r.Branch, Repository: r.Repository, Editable: r.Editable, Merges: r.Merges}
				if err != nil || got != want {
					t.Errorf("read %d: %+v, %v, want %+v", number, got, err, want)
				}
			}
			for i := range 260 {
				fake.Add(testrepos.ForgeRequest{State: "open", Head: fmt.Sprint("l10n", i), Base: "main"})
			}
			if list, more, err = f.List(t.Context(), "main"); err != nil || !more || len(list) != listPage*listPages || list[0].Branch != "l10n259" {
				t.Errorf("of many: %d, %v, %v", len(list), more, err)
			}
		})
	}
}

// TestGit lists the addresses of repositories by https, which are on the forge's own host.
func TestGit(t *testing.T) {
	for _, tt := range []struct{ kind, url, repository, want string }{
		{"github", "", "a/b", "https://github.com/a/b.git"},
		{"github", "https://api.github.com", "a/b", "https://github.com/a/b.git"},
		{"github", "https://ghe.example/", "a/b", "https://ghe.example/a/b.git"},
		{"gitlab", "", "a/b/c", "https://gitlab.com/a/b/c.git"},
		{"gitlab", "https://git.example/gitlab", "a/b", "https://git.example/gitlab/a/b.git"},
		{"forgejo", "https://codeberg.org", "a/b", "https://codeberg.org/a/b.git"},
		{"gitea", "", "a/b", ""},
		{"gitea", "https://x", "../b", ""},
		{"gitea", "https://x", "", ""},
		{"gitea", "https://x", "u@evil/b", ""},
		{"gitea", "https://x", "a/b?c", ""},
	} {
		if got := (Options{Kind: tt.kind, URL: tt.url}).Git(tt.repository); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// TestFaults has answers that are no requests.
func TestFaults(t *testing.T) {
	reset := fmt.Sprint(time.Date(2026, 5, 1, 12, 5, 0, 0, time.UTC).Unix())
	for name, tt := range map[string]struct {
		status  int
		headers map[string]string
		body    string
		want    error
		wait    time.Duration
		says    string
	}{
		"wrong token":             {401, nil, `{"message":"Bad credentials"}`, ErrAccess, 0, "Bad credentials"},
		"forbidden":               {403, nil, `{"message":"Resource not accessible by personal access token"}`, ErrAccess, 0, "not accessible"},
		"GitHub's limit":          {403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}, `{}`, nil, 5 * time.Minute, ""},
		"GitHub's second limit":   {403, map[string]string{"Retry-After": "30"}, `{"message":"You have exceeded a secondary rate limit"}`, nil, 30 * time.Second, ""},
		"GitLab's limit":          {429, map[string]string{"RateLimit-Remaining": "0", "RateLimit-Reset": reset}, "Retry later", nil, 5 * time.Minute, ""},
		"limit with a date":       {429, map[string]string{"Retry-After": "Fri, 01 May 2026 12:02:00 GMT"}, "", nil, 2 * time.Minute, ""},
		"limit without a time":    {429, nil, "", nil, time.Minute, ""},
		"limit in the past":       {429, map[string]string{"X-RateLimit-Reset": "1"}, "", nil, time.Second, ""},
		"limit of a year":         {429, map[string]string{"Retry-After": "99999999"}, "", nil, 24 * time.Hour, ""},
		"limit that is no number": {429, map[string]string{"Retry-After": "soon"}, "", nil, time.Minute, ""},
		"maintenance":             {503, map[string]string{"Retry-After": "120"}, "", nil, 2 * time.Minute, ""},
		"fault":                   {500, nil, "<html>", ErrUnavailable, 0, "status 500"},
		"redirect":                {302, map[string]string{"Location": "https://evil.example/"}, "", ErrUnavailable, 0, "redirects"},
		"moved repository":        {301, map[string]string{"Location": "/repositories/1/pulls"}, "", ErrUnavailable, 0, "redirects"},
		"another status":          {202, nil, "{}", ErrUnavailable, 0, "status 202"},
		"validation":              {422, nil, `{"message":"Validation Failed","errors":[{"message":"No commits between main and l10n"}]}`, ErrRefused, 0, "No commits between"},
		"exists":                  {422, nil, `{"message":"Validation Failed","errors":[{"message":"A pull request already exists for x"}]}`, ErrExists, 0, ""},
		"GitLab's list":           {400, nil, `{"message":{"base":["is bad"]}}`, ErrRefused, 0, "is bad"},
		"GitLab's error":          {400, nil, `{"error":"title is missing"}`, ErrRefused, 0, "title is missing"},
		"echo of the token":       {400, nil, `{"message":"you sent ` + secret + `\nX"}`, ErrRefused, 0, "you sent … X"},
		"long message":            {400, nil, `{"message":"` + strings.Repeat("a", 5000) + `"}`, ErrRefused, 0, "aaa…"},
		"no JSON":                 {201, nil, `<html>`, ErrUnavailable, 0, "no JSON"},
		"another JSON":            {201, nil, `[]`, ErrUnavailable, 0, "no JSON"},
		"endless":                 {201, nil, `{"title":"` + strings.Repeat("a", maxAnswer) + `"}`, ErrUnavailable, 0, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			fake, f := serve(t, "github")
			calls := 0
			fake.Hook = func(w http.ResponseWriter, r *http.Request) bool {
				if calls++; r.Host != "example.com" || calls > 1 {
					t.Errorf("call %d to %s", calls, r.Host)
				}
				for key, value := range tt.headers {
					w.Header().Set(key, value)
				}
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
				return true
			}
			_, err := f.Open(t.Context(), Draft{Head: "a", Base: "b", Title: "c"})
			var limit *LimitError
			if tt.want == nil {
				if !errors.As(err, &limit) || limit.After != tt.wait || !strings.Contains(err.Error(), tt.wait.String()) {
					t.Errorf("got %v, want a limit of %v", err, tt.wait)
				}
				return
			}
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
				t.Errorf("got %v, want %v: %s", err, tt.want, tt.says)
			}
		})
	}
}

// TestUnreachable asks a forge that is not there, and one for nobody any more.
func TestUnreachable(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	o := options("gitea", server)
	server.Close()
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(t.Context(), 1); !errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), secret) {
		t.Errorf("not there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Read(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	o.Token = "wrong"
	fake := &testrepos.Forge{Kind: "gitea", Repository: "hello/app", Token: secret}
	server = httptest.NewTLSServer(fake)
	defer server.Close()
	o.Transport = options("gitea", server).Transport
	if f, err = New(o); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(t.Context(), 1); !errors.Is(err, ErrAccess) {
		t.Errorf("wrong token: %v", err)
	}
}

// TestNew lists addresses, and what is refused.
func TestNew(t *testing.T) {
	for _, tt := range []struct {
		kind, url, repository, token, want string
	}{
		{"github", "", "a/b", "t", "https://api.github.com"},
		{"github", "https://github.com/", "a/b", "t", "https://api.github.com"},
		{"github", "https://api.github.com", "a/b", "t", "https://api.github.com"},
		{"github", "https://ghe.example", "a/b", "t", "https://ghe.example/api/v3"},
		{"gitlab", "", "a/b/c", "t", "https://gitlab.com/api/v4"},
		{"gitlab", "https://git.example/gitlab/", "a/b", "t", "https://git.example/gitlab/api/v4"},
		{"gitea", "https://git.example:3000", "a/b", "t", "https://git.example:3000/api/v1"},
		{"forgejo", "https://codeberg.org", "a/b", "t", "https://codeberg.org/api/v1"},
		{"gitea", "", "a/b", "t", ""},
		{"forgejo", "", "a/b", "t", ""},
		{"bitbucket", "https://x", "a/b", "t", ""},
		{"github", "http://github.com", "a/b", "t", ""},
		{"github", "https://user:pw@github.com", "a/b", "t", ""},
		{"github", "https://github.com?x", "a/b", "t", ""},
		{"github", "://", "a/b", "t", ""},
		{"github", "", "a", "t", ""},
		{"github", "", "a/b/c", "t", ""},
		{"github", "", "a/..", "t", ""},
		{"github", "", "a/b?c", "t", ""},
		{"github", "", "a/b%2f", "t", ""},
		{"github", "", "a/b", "", ""},
		{"github", "", "a/b", "t\nX: y", ""},
	} {
		f, err := New(Options{Kind: tt.kind, URL: tt.url, Repository: tt.repository, Token: tt.token})
		got := ""
		if c, ok := f.(*client); ok {
			got = strings.TrimSuffix(c.requests, c.path(c.Repository))
		}
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s %q %q: %q, %v, want %q", tt.kind, tt.url, tt.repository, got, err, tt.want)
		}
	}
	for address, want := range map[string]string{
		"https://github.com/a/b.git": "a/b", "https://u:p@git.example/x/y/z/": "x/y/z", "ssh://git@host:22/a/b": "a/b", "git@host:a/b.git": "a/b",
		"/srv/git/a.git": "", "https://host/a": "", "https://host/a/..": "", "a/b": "", "": "", "git@host:b": "",
	} {
		if got := RepositoryOf(address, ""); got != want {
			t.Errorf("repository of %q: %q, want %q", address, got, want)
		}
	}
}

// TestRepositoryBelow finds repositories of forges that are below a path of their host.
func TestRepositoryBelow(t *testing.T) {
	for _, tt := range []struct{ address, forge, want string }{
		{"https://host/git/a/b.git", "https://host/git/", "a/b"},
		{"https://HOST/git/a/b.git", "https://host/git", "a/b"},
		{"https://host/a/b.git", "https://host/", "a/b"},
		{"https://host/git/a/b.git", "https://other/git", "git/a/b"},
		{"https://host/gitter/a/b.git", "https://host/git", "gitter/a/b"},
		{"ssh://git@host/a/b.git", "https://host/git", "a/b"},
		{"git@host:a/b.git", "https://host/git", "a/b"},
		{"https://host/git/b.git", "https://host/git", ""},
	} {
		if got := RepositoryOf(tt.address, tt.forge); got != tt.want {
			t.Errorf("%s on %s: %q, want %q", tt.address, tt.forge, got, tt.want)
		}
	}
}

// TestPages keeps addresses of the forge and no others.
func TestPages(t *testing.T) {
	c := &client{requests: "https://api.github.com"}
	for address, want := range map[string]string{
		"https://github.com/a/b/pull/1": "https://github.com/a/b/pull/1", "https://evil.example/": "", "http://github.com/a": "", "javascript:alert(1)": "", "%": "",
	} {
		if got := c.page(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

// TestBody renders the table of strings.
func TestBody(t *testing.T) {
	got := Body("Intro\n", nil, []Row{
		{Language: "cs", Source: "one | two", Before: "", After: "jedna | dva", Checks: []string{"same", "c_format"}},
		{Language: "de", Context: "menu", Source: "a\nb\ttab", Before: "x\x1e\x1ey", After: "@admin #1 <b> [l](https://x) `` `", Fuzzy: true},
		{Language: "ar", Source: "\u202eevil", Before: " a ", After: "`a"},
	})
	const want = "Intro\n\n" +
		"| language | string | before | after | failing checks |\n|---|---|---|---|---|\n" +
		"| `cs` | `one \\| two` | – | `jedna \\| dva` | `same`, `c_format` |\n" +
		"| `de` | `menu`: `a↵b<U+0009>tab` | `x` / `y` | ``` @admin #1 <b> [l](https://x) `` ` ``` (needs editing) |  |\n" +
		"| `ar` | `<U+202E>evil` | `  a  ` | `` `a `` |  |"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got = Body("", []File{{Path: "po/sv.po", Language: "sv"}, {Path: "po/|.po", Language: "x", Removes: true}, {Path: "po/en.po", Language: "en", Source: "New"}},
		[]Row{{Component: "App", Language: "cs", Source: "a", After: "b"}, {Component: "Lib", Language: "cs", Source: "a", After: "c"}})
	const files = "- adds the language `sv`: `po/sv.po`\n- removes the language `x`: `po/|.po`\n- adds the string `New` to `po/en.po`\n\n" +
		"| component | language | string | before | after | failing checks |\n|---|---|---|---|---|---|\n| `App` | `cs` | `a` | – | `b` |  |\n| `Lib` | `cs` | `a` | – | `c` |  |"
	if diff := cmp.Diff(files, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := Body("", make([]File, 2*maxFiles), nil); !strings.HasSuffix(got, "- … and 100 more") {
		t.Errorf("200 files: %s", got)
	}
	if got := Body("", nil, nil); got != "" {
		t.Errorf("nothing is %q", got)
	}
	rows := make([]Row, 5000)
	for i := range rows {
		rows[i] = Row{Language: "cs", Source: strings.Repeat("漢", 1000), After: strings.Repeat("|", 1000)}
	}
	long := Body(strings.Repeat("x", MaxBody), nil, rows)
	if len(long) > MaxBody || !strings.Contains(long, "\n\n… and 49") || !strings.Contains(long, "`"+strings.Repeat("漢", maxCell)+"…`") {
		t.Errorf("%d bytes: …%s", len(long), long[len(long)-200:])
	}
}

// TestCells: what a forge shows of a cell is the text, whatever it has. A bar after a backslash
// divides no cells, also in code, and loses that backslash before code spans are looked for.
func TestCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"|", `\\`, "`", " ", "a", "``", `\\|`, "<b>", "*"}), 1, 12).Draw(t, "parts"), "")
		})
		r := Row{Language: "cs", Source: text.Draw(t, "source"), Before: text.Draw(t, "before"), After: text.Draw(t, "after")}
		line := r.line(false)
		cells, escaped := []string{""}, false
		for _, c := range strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|\n") {
			last := len(cells) - 1
			switch {
			case c == '|' && escaped:
				cells[last] = strings.TrimSuffix(cells[last], `\`) + "|"
			case c == '|':
				cells = append(cells, "")
			default:
				cells[last] += string(c)
			}
			escaped = c == '\\'
		}
		if len(cells) != 5 {
			t.Fatalf("%d cells: %s", len(cells), line)
		}
		for i, want := range []string{"cs", r.Source, r.Before, r.After} {
			cell := strings.TrimSpace(cells[i])
			fence := cell[:len(cell)-len(strings.TrimLeft(cell, "`"))]
			got, ok := strings.CutSuffix(cell[len(fence):], fence)
			if strings.HasPrefix(got, " ") && strings.HasSuffix(got, " ") && strings.Trim(got, " ") != "" {
				got = got[1 : len(got)-1]
			}
			for _, run := range regexp.MustCompile("`+").FindAllString(got, -1) {
				ok = ok && run != fence
			}
			if !ok || got != want && strings.Trim(want, " ") != "" {
				t.Fatalf("%q is shown as %q: %s", want, got, line)
			}
		}
	})
}
