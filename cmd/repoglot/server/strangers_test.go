package server

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// The secrets that failures have, and that strangers must not find anywhere.
const (
	secretPerson  = "jana.secret@example.org"
	secretHook    = "Mamluk"           // a word of the remote's hook
	secretToken   = "rgt-hook-8842"    // and a token that it prints
	secretInside  = "Innenhof"         // what an internal server says
	secretQuery   = "QUERYSECRET"      // of an address
	secretProject = "acquisition"      // a private project on the branch of a public one
	secretFolder  = "Kellergeschoss"   // of this machine
	secretBranch  = "Seitenast"        // names of files and strings that are private
	publicPerson  = "Jana Veřejná"     // who edits
	privatePerson = "Petr Neveřejný"   // who edits what is private
	host          = "l10n.example.org" // of the server
)

// failing is a server of which nearly everything fails: the push of a public and of a
// private component of one branch, the pull of a local repository that is not there, and
// of one that leads to a server inside.
type failing struct {
	fuzzed
	t      *testing.T
	server *server
	dir    string
	up     *gittest.Upstream[object.Hash] // of app and box
	told   string                         // what who may write is told of the push of the public component alone
}

func newFailing(t *testing.T) failing {
	t.Helper()
	return newFailingIn(t, "direct")
}

// newFailingIn is newFailing with a push_mode.
func newFailingIn(t *testing.T, mode string) failing {
	t.Helper()
	gittest.NeedGit(t)
	dir := filepath.Join(t.TempDir(), secretFolder)
	must(t, os.MkdirAll(dir, 0o700))
	po := func(text string) string {
		return "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=2; plural=n!=1;\\n\"\n\nmsgid \"" + text + "\"\nmsgstr \"\"\n"
	}
	up := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(dir, "shared.git"))
	up.Push("karel.secret@example.org", gittest.Files{"app/cs.po": po("Hello"), "box/cs.po": po(secretBranch)})
	hook := "#!/bin/sh\necho 'Author " + secretPerson + " is no member: " + secretHook + " " + secretToken + " in " + dir + "/hooks, box/cs.po:4' >&2\nexit 1\n"
	must(t, os.MkdirAll(filepath.Join(up.Dir, "hooks"), 0o700))
	must(t, os.WriteFile(filepath.Join(up.Dir, "hooks", "pre-receive"), []byte(hook), 0o700))
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintln(w, secretInside+" db=prod")
	}))
	t.Cleanup(inside.Close)
	leads := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(inside.URL, "127.0.0.1", "localhost", 1)+r.URL.Path+"?"+r.URL.RawQuery, http.StatusFound)
	}))
	t.Cleanup(leads.Close)
	configuration := `listen: 127.0.0.1:0
data_dir: data
poll_interval: 0
git_export: false
quotas: {units: 8}
projects:
- slug: open
  components:
  - {slug: app, repo: shared.git, filemask: app/*.po, push_mode: MODE, flush: 10h}
  - {slug: gone, repo: gone.git, filemask: po/*.po}
  - {slug: far, repo: "` + leads.URL + `/y.git?token=` + secretQuery + `", filemask: po/*.po}
- slug: ` + secretProject + `
  access: private
  components:
  - {slug: box, repo: shared.git, filemask: box/*.po, push_mode: MODE, flush: 10h}
`
	z, s := openConfig(t, dir, strings.ReplaceAll(configuration, "MODE", mode))
	s.api.EndStreams()
	f := failing{fuzzed: z, t: t, server: s, dir: dir, up: up}
	admin := f.token(s, catalog.Token{Name: "ops", Scope: catalog.ScopeAdmin})
	f.edit(f.token(s, catalog.Token{Name: "jana", Scope: catalog.ScopeWrite, AuthorName: publicPerson, AuthorEmail: secretPerson}), "open/app")
	f.edit(f.token(s, catalog.Token{Name: "vera.secret@example.org", Scope: catalog.ScopeWrite}), "open/app")
	f.key = admin
	push := func() {
		t.Helper()
		f.send(http.MethodPost, "/api/components/open/app/repository/", admin, `{"operation":"push"}`, http.StatusOK)
	}
	push()
	f.told = f.send(http.MethodGet, "/api/components/open/app/repository/", admin, "", http.StatusOK).Body.String()
	f.edit(f.token(s, catalog.Token{Name: "petr", Scope: catalog.ScopeWrite, AuthorName: privatePerson, AuthorEmail: "petr.secret@example.org"}), secretProject+"/box")
	push() // of both
	if said := z.log.String(); !strings.Contains(said, `msg="operation on a repository" operation=push token=ops path=/api/components/open/app/repository/`) {
		t.Error("the log does not say who pushed")
	}
	return f
}

func (f failing) token(s *server, token catalog.Token) string {
	f.t.Helper()
	token.Created = time.Now()
	key, err := s.engine.db.Access().CreateToken(f.t.Context(), token)
	must(f.t, err)
	return key
}

// edit edits the only string of a component.
func (f failing) edit(key, component string) {
	f.t.Helper()
	var list struct{ Results []struct{ URL string } }
	must(f.t, json.Unmarshal(f.send(http.MethodGet, "/api/translations/"+component+"/cs/units/", key, "", http.StatusOK).Body.Bytes(), &list))
	f.send(http.MethodPatch, strings.TrimPrefix(list.Results[0].URL, "http://"+host), key, `{"target":["Ahoj `+key[len(key)-4:]+`"],"state":20}`, http.StatusOK)
}

func (f failing) send(method, target, key, body string, want int) *httptest.ResponseRecorder {
	f.t.Helper()
	u, err := url.ParseRequestURI(target)
	must(f.t, err)
	h := http.Header{"Content-Type": {"application/json"}}
	if key != "" {
		h.Set("Authorization", "Token "+key)
	}
	rec := f.ask(f.t.Context(), method, u, h, body)
	if rec.Code != want && want != 0 {
		f.t.Fatalf("%s %s: %d %s", method, target, rec.Code, rec.Body)
	}
	return rec
}

var addressesOfText = regexp.MustCompile(`(?:href|src)="([^"]*)"|"http://` + host + `(/[^"]*)"|<(?:link|id)>http://` + host + `(/[^<]*)<`)

// TestStrangersSeeKinds follows all links of all answers to a stranger: none has what a
// remote, a private component, an internal server or this machine said, nor an e-mail
// address or a path; but each failure has its kind.
func TestStrangersSeeKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it asks every route of many servers")
	}
	t.Parallel()
	f := newFailing(t)
	queue := []string{"/", "/api/", "/readyz", "/metrics", "/healthz", "/changes/", "/sitemap.xml", "/robots.txt", "/search/?q=Hello"}
	for _, of := range []string{"open/app", "open/gone", "open/far"} {
		project, component, _ := strings.Cut(of, "/")
		for _, path := range f.paths(t, project, component, "cs") {
			queue = append(queue, path, path+"?format=csv")
		}
		queue = append(queue, "/projects/"+of+"/", "/git/"+of+"/info/refs?service=git-upload-pack", "/exports/rss/"+of+"/", "/projects/"+of+"/cs/")
	}
	seen, shapes := map[string]bool{}, map[string]int{}
	for len(queue) > 0 {
		target := queue[0]
		queue = queue[1:]
		u, err := url.ParseRequestURI(target)
		must(t, err)
		if seen[target] || strings.HasPrefix(target, "/docs/") || shapes[shapeOf(u)] > 3 {
			continue
		}
		seen[target] = true
		shapes[shapeOf(u)]++
		for _, accept := range []string{"*/*", "text/html"} {
			rec := f.ask(t.Context(), http.MethodGet, u, http.Header{"Accept": {accept}}, "")
			said := plain(rec)
			for _, secret := range []string{
				secretPerson, "jana.secret", "petr.secret", "vera.secret@", "karel.secret@", secretHook, secretToken, secretInside, secretQuery, secretProject, secretFolder, secretBranch, privatePerson, "localhost:",
			} {
				if strings.Contains(said, secret) && !strings.Contains(target, secret) {
					t.Errorf("%s (%s) has %q: %s", target, accept, secret, around(said, secret))
				}
			}
			for _, m := range addressesOfText.FindAllStringSubmatch(said, -1) {
				to := html.UnescapeString(m[1] + m[2] + m[3])
				if next, err := u.Parse(strings.TrimPrefix(to, "http://"+host)); err == nil && next.Host == "" && next.Scheme == "" && strings.HasPrefix(next.Path, "/") && next.Path != "/logout/" {
					queue = append(queue, next.RequestURI())
				}
			}
		}
	}
	if len(seen) < 200 {
		t.Errorf("only %d answers", len(seen))
	}
	ready := f.send(http.MethodGet, "/readyz", "", "", 0).Body.String()
	for _, want := range []string{`"push_error":"refused"`, `"error":"unreachable"`} {
		if !strings.Contains(ready, want) {
			t.Errorf("/readyz lacks %s: %s", want, ready)
		}
	}
	for path, want := range map[string]string{"app": `"merge_failure":"refused since 20`, "gone": `"merge_failure":"unreachable since 20`, "far": `"merge_failure":"unreachable since 20`} {
		if got := f.send(http.MethodGet, "/api/components/open/"+path+"/repository/", "", "", http.StatusOK).Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s lacks %s: %s", path, want, got)
		}
	}
	// Who may write is told, but no addresses of people and no paths.
	if !strings.Contains(f.told, secretHook) || strings.Contains(f.told, secretPerson) || strings.Contains(f.told, secretFolder) {
		t.Errorf("who may write is told %s", f.told)
	}
	// When edits of a private component are in the push, the words may be about them.
	told := f.send(http.MethodGet, "/api/components/open/app/repository/", f.key, "", http.StatusOK).Body.String()
	if strings.Contains(told, secretBranch) || strings.Contains(told, secretHook) || !strings.Contains(told, "refused") {
		t.Errorf("of a push with private edits: %s", told)
	}
	told = f.send(http.MethodGet, "/api/components/open/far/repository/", f.key, "", http.StatusOK).Body.String()
	if strings.Contains(told, secretInside) || strings.Contains(told, secretQuery) {
		t.Errorf("who may write is told %s", told)
	}
}

// TestOperationsOfProject: a token of scope admin for one project pushes the edits of that
// project alone, and is not told of another's components on its branch.
func TestOperationsOfProject(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"direct", "branch, push_branch: l10n"} {
		f := newFailingIn(t, mode)
		must(t, os.Remove(filepath.Join(f.dir, "shared.git", "hooks", "pre-receive")))
		project := f.token(f.server, catalog.Token{Name: "open", Scope: catalog.ScopeAdmin, Projects: catalog.Names("open")})
		push := func(key string) string {
			return f.send(http.MethodPost, "/api/components/open/app/repository/", key, `{"operation":"push"}`, http.StatusOK).Body.String()
		}
		status := func(component string) bool {
			return strings.Contains(f.send(http.MethodGet, "/api/components/"+component+"/repository/", f.key, "", http.StatusOK).Body.String(), `"needs_push":true`)
		}
		said := push(project)
		app, box := status("open/app"), status(secretProject+"/box")
		if wait := mode != "direct"; app != wait || !box || strings.Contains(said, secretProject) {
			t.Errorf("%s: app waits: %v, box waits: %v: %s", mode, app, box, said)
		}
		push(f.key)
		if mode == "direct" && status(secretProject+"/box") {
			t.Error("who sees all does not push all")
		}
		// A component of the other project has too many strings: who sees all is told.
		pull := func(key string) string {
			return f.send(http.MethodPost, "/api/components/open/app/repository/", key, `{"operation":"pull"}`, http.StatusOK).Body.String()
		}
		many := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
		for n := range 9 {
			many += fmt.Sprintf("\nmsgid \"%s %d\"\nmsgstr \"\"\n", secretBranch, n)
		}
		f.up.Push("many", gittest.Files{"app/cs.po": many[:strings.Index(many, "\n\n")], "box/cs.po": many})
		if said := pull(f.key); !strings.Contains(said, secretProject+"/box: it has 9 strings") {
			t.Errorf("%s: who sees all is told %s", mode, said)
		}
		if said := pull(project); strings.Contains(said, secretProject) || strings.Contains(said, "box") || strings.Contains(said, "strings") {
			t.Errorf("%s: who sees one project is told %s", mode, said)
		}
		// The repository cannot be read: nothing but that is told.
		must(t, os.Rename(filepath.Join(f.dir, "shared.git"), filepath.Join(f.dir, "away.git")))
		said = pull(project)
		if strings.Contains(said, secretProject) || strings.Contains(said, secretFolder) || !strings.Contains(said, `"result":false`) {
			t.Errorf("%s: %s", mode, said)
		}
	}
}

// around is a part of a text with what is looked for.
func around(text, what string) string {
	at := strings.Index(text, what)
	return strings.ToValidUTF8(text[max(0, at-200):min(len(text), at+200)], "")
}

// shapeOf is what an address has in common with others of its kind.
func shapeOf(u *url.URL) string {
	segments := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(segments) > 1 {
		segments[0] += "/" + segments[1] + "…" + segments[len(segments)-1]
	}
	return fmt.Sprint(segments[0], len(segments), slices.Sorted(maps.Keys(u.Query())))
}
