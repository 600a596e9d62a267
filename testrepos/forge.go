package testrepos

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ForgeRequest is a request of a Forge.
type ForgeRequest struct {
	// Number counts from 1.
	Number int
	// State is open, merged, closed or removed.
	State string
	// Head and Base are branches.
	Head, Base string
	// Title and Body are its texts.
	Title, Body string
	// Fork says that Head is of another repository: From, or somebody/fork.
	Fork bool
	From string
	// Commit is the head of the request. A ForgeHost reads it, if it has the repository.
	Commit string
	// Editable says that maintainers may push to the branch of a fork, Merges that the forge
	// finds no conflict.
	Editable, Merges bool
}

// from is the repository of the branch of a request of a forge.
func (r *ForgeRequest) from(f *Forge) string {
	if !r.Fork {
		return f.Repository
	}
	return cmp.Or(r.From, "somebody/fork")
}

// maxRequest bounds the request of a client.
const maxRequest = 16 << 20

// Forge answers as the REST API of GitHub, GitLab, Gitea or Forgejo does about the
// requests of one repository, and checks what is sent: whatever the forge's manual does
// not know is a problem. It is an http.Handler for a server with TLS.
type Forge struct {
	// Kind is github, gitlab, gitea or forgejo; Repository its path; Token the secret
	// that is asked for.
	Kind, Repository, Token string
	// Hook is called first; if it returns true, it has answered.
	Hook func(http.ResponseWriter, *http.Request) bool

	mu       sync.Mutex
	requests []ForgeRequest
	comments []ForgeComment
	problems []string
}

// ForgeBot is whom the token of a Forge is of.
const ForgeBot = "bot"

// ForgeComment is a comment at a request of a number.
type ForgeComment struct {
	Request      int
	Author, Body string
}

// Comments returns all comments.
func (f *Forge) Comments() []ForgeComment {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.comments)
}

// Say adds comments.
func (f *Forge) Say(list ...ForgeComment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.comments = append(f.comments, list...)
}

// Requests returns all requests.
func (f *Forge) Requests() []ForgeRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// Problems returns what was sent that should not have been.
func (f *Forge) Problems() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.problems)
}

// Add adds a request, as somebody else would.
func (f *Forge) Add(r ForgeRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Number = len(f.requests) + 1
	f.requests = append(f.requests, r)
}

// End ends a request: merged, closed, or removed, as the owner of a repository can on GitLab
// and Gitea.
func (f *Forge) End(number int, state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests[number-1].State = state
}

// Move says that the branch of a request is at another commit.
func (f *Forge) Move(number int, commit string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests[number-1].Commit = commit
}

// Retarget gives a request another branch to be merged into.
func (f *Forge) Retarget(number int, base string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests[number-1].Base = base
}

func (f *Forge) problem(format string, args ...any) {
	f.problems = append(f.problems, fmt.Sprintf(format, args...))
}

// ServeHTTP answers one call.
func (f *Forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.Hook != nil && f.Hook(w, r) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.allowed(r) {
		answerJSON(w, http.StatusUnauthorized, map[string]string{"message": "Bad credentials"})
		return
	}
	if f.project(w, r) || f.comment(w, r) {
		return
	}
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), f.Path())
	number, err := strconv.Atoi(strings.TrimPrefix(path, "/"))
	switch {
	case !ok || path != "" && (err != nil || number < 1 || number > len(f.requests) || f.requests[number-1].State == "removed"):
		answerJSON(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
	case path == "" && r.Method == http.MethodGet:
		f.list(w, r.URL.Query())
	case path == "" && r.Method == http.MethodPost:
		f.open(w, r)
	case path != "" && r.Method == http.MethodGet:
		object := f.object(&f.requests[number-1])
		if f.Kind == "github" { // which its lists lack
			object["maintainer_can_modify"], object["mergeable"] = f.requests[number-1].Editable, f.requests[number-1].Merges
		}
		answerJSON(w, http.StatusOK, object)
	case path != "" && r.Method == f.updateMethod():
		f.update(w, r, &f.requests[number-1])
	default:
		f.problem("%s %s", r.Method, r.URL)
		answerJSON(w, http.StatusMethodNotAllowed, map[string]string{"message": "method"})
	}
}

// projects is the path of the projects of GitLab, by their number.
const projects = "/api/v4/projects/"

// project answers about a fork on GitLab: its number is that of its request after 100.
func (f *Forge) project(w http.ResponseWriter, r *http.Request) bool {
	number, err := strconv.Atoi(strings.TrimPrefix(r.URL.EscapedPath(), projects))
	if f.Kind != "gitlab" || err != nil {
		return false
	}
	if number -= 100; number < 1 || number > len(f.requests) || !f.requests[number-1].Fork {
		answerJSON(w, http.StatusNotFound, map[string]string{"message": "404 Project Not Found"})
		return true
	}
	answerJSON(w, http.StatusOK, map[string]any{"id": number, "path_with_namespace": f.requests[number-1].from(f)})
	return true
}

// comment answers about the comments of requests, which number from 1, and whose the token is. An
// owner's token may change those of others, too.
func (f *Forge) comment(w http.ResponseWriter, r *http.Request) bool {
	of, user, name := strings.TrimSuffix(f.Path(), "/pulls")+"/issues", "GET /api/v1/user", "login"
	at, one := strings.CutPrefix(r.URL.EscapedPath(), of+"/comments/")
	switch f.Kind {
	case "github":
		user = "POST /api/graphql"
	case "gitlab":
		of, user, name = f.Path(), "GET /api/v4/user", "username"
		at, one = r.URL.EscapedPath(), strings.Contains(r.URL.Path, "/notes/")
		at = at[strings.LastIndexByte(at, '/')+1:]
	}
	if r.Method+" "+r.URL.Path == user {
		me := map[string]any{name: ForgeBot}
		if f.Kind == "github" {
			_ = f.named(f.body(r), "query")
			me = map[string]any{"data": map[string]any{"viewer": me}}
		}
		answerJSON(w, http.StatusOK, me)
		return true
	}
	object := func(id int) map[string]any {
		c := f.comments[id-1]
		return map[string]any{"id": id, "body": c.Body, map[string]string{"login": "user", "username": "author"}[name]: map[string]any{name: c.Author}}
	}
	id, err := strconv.Atoi(at)
	if one && err == nil && id <= len(f.comments) && r.Method == f.updateMethod() {
		f.comments[id-1].Body = f.named(f.body(r), "body")["body"]
		answerJSON(w, http.StatusOK, object(id))
		return true
	}
	var number int
	if _, err := fmt.Sscanf(strings.TrimPrefix(r.URL.EscapedPath(), of), "/%d/"+map[string]string{"login": "comments", "username": "notes"}[name], &number); err != nil || number < 1 || number > len(f.requests) {
		return false
	}
	if r.Method == http.MethodPost {
		f.comments = append(f.comments, ForgeComment{number, ForgeBot, f.named(f.body(r), "body")["body"]})
		answerJSON(w, http.StatusCreated, object(len(f.comments)))
		return true
	}
	list := []any{}
	for id := range f.comments {
		if f.comments[id].Request == number {
			list = append(list, object(id+1))
		}
	}
	if page, _ := strconv.Atoi(r.URL.Query().Get("page")); f.Kind == "github" || f.Kind == "gitlab" { // the others have one page
		list = list[min(len(list), 100*(page-1)):min(len(list), 100*page)]
	}
	answerJSON(w, http.StatusOK, list)
	return true
}

// allowed checks the headers of a call.
func (f *Forge) allowed(r *http.Request) bool {
	want := map[string]map[string]string{
		"github": {"Authorization": "Bearer " + f.Token, "Accept": "application/vnd.github+json", "X-Github-Api-Version": "2022-11-28"},
		"gitlab": {"Private-Token": f.Token},
	}[f.Kind]
	if want == nil {
		want = map[string]string{"Authorization": "token " + f.Token}
	}
	if r.Method != http.MethodGet {
		want["Content-Type"] = "application/json"
	}
	for name, value := range want {
		if r.Header.Get(name) != value {
			f.problem("%s %s: header %s", r.Method, r.URL, name)
			return false
		}
	}
	return r.Header.Get("User-Agent") != ""
}

// Path is where its API has the requests.
func (f *Forge) Path() string {
	switch f.Kind {
	case "github":
		return "/api/v3/repos/" + f.Repository + "/pulls"
	case "gitlab":
		return "/api/v4/projects/" + url.PathEscape(f.Repository) + "/merge_requests"
	}
	return "/api/v1/repos/" + f.Repository + "/pulls"
}

func (f *Forge) updateMethod() string {
	if f.Kind == "gitlab" {
		return http.MethodPut
	}
	return http.MethodPatch
}

// list answers with the open requests that a query selects.
func (f *Forge) list(w http.ResponseWriter, query url.Values) {
	all := query.Has("page")
	known := map[string][]string{
		"github": {"state", "head", "base", "per_page"},
		"gitlab": {"state", "source_branch", "target_branch", "per_page"},
	}[f.Kind]
	if all && known != nil {
		known = map[string][]string{
			"github": {"state", "base", "sort", "direction", "per_page", "page"},
			"gitlab": {"state", "target_branch", "order_by", "sort", "per_page", "page"},
		}[f.Kind]
	}
	if known == nil {
		known = []string{"state", "sort", "page", "limit"}
	}
	for name := range query {
		if !slices.Contains(known, name) {
			f.problem("query %s", name)
		}
	}
	open := "open"
	if f.Kind == "gitlab" {
		open = "opened"
	}
	if query.Get("state") != open {
		f.problem("state %q", query.Get("state"))
	}
	owner, _, _ := strings.Cut(f.Repository, "/")
	found := []any{}
	for i := range slices.Backward(f.requests) {
		r := &f.requests[i]
		fits := r.State == "open"
		switch f.Kind {
		case "github":
			fits = fits && (all || query.Get("head") == owner+":"+r.Head) && query.Get("base") == r.Base
		case "gitlab":
			fits = fits && (all || query.Get("source_branch") == r.Head) && query.Get("target_branch") == r.Base
		}
		if fits {
			found = append(found, f.object(r))
		}
	}
	if all {
		page, _ := strconv.Atoi(query.Get("page"))
		limit, _ := strconv.Atoi(cmp.Or(query.Get("limit"), query.Get("per_page")))
		from := min(len(found), max(0, (page-1)*limit))
		found = found[from:min(len(found), from+limit)]
	}
	answerJSON(w, http.StatusOK, found)
}

// body reads the body of a call.
func (f *Forge) body(r *http.Request) (in map[string]any) {
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxRequest)).Decode(&in); err != nil {
		f.problem("body: %v", err)
	}
	return in
}

func (f *Forge) named(in map[string]any, names ...string) map[string]string {
	out := map[string]string{}
	for name, value := range in {
		text, ok := value.(string)
		if !ok || !slices.Contains(names, name) {
			f.problem("field %s: %v", name, value)
		}
		out[name] = text
	}
	for _, name := range names {
		if _, ok := in[name]; !ok {
			f.problem("field %s is missing", name)
		}
	}
	return out
}

func (f *Forge) open(w http.ResponseWriter, r *http.Request) {
	head, base, body := "head", "base", "body"
	if f.Kind == "gitlab" {
		head, base, body = "source_branch", "target_branch", "description"
	}
	in := f.named(f.body(r), "title", head, base, body)
	for _, other := range f.requests {
		if other.State != "open" || other.Fork || other.Head != in[head] || other.Base != in[base] {
			continue
		}
		switch f.Kind {
		case "github":
			answerJSON(w, http.StatusUnprocessableEntity, map[string]any{
				"message": "Validation Failed",
				"errors":  []any{map[string]string{"resource": "PullRequest", "message": "A pull request already exists for x."}},
			})
		case "gitlab":
			answerJSON(w, http.StatusConflict, map[string]any{"message": []string{"Another open merge request already exists for this source branch: !1"}})
		default:
			answerJSON(w, http.StatusConflict, map[string]string{"message": "pull request already exists for these targets"})
		}
		return
	}
	f.requests = append(f.requests, ForgeRequest{Number: len(f.requests) + 1, State: "open", Head: in[head], Base: in[base], Title: in["title"], Body: in[body]})
	answerJSON(w, http.StatusCreated, f.object(&f.requests[len(f.requests)-1]))
}

func (f *Forge) update(w http.ResponseWriter, r *http.Request, request *ForgeRequest) {
	body, base, status, end, value := "body", "base", http.StatusOK, "state", "closed"
	switch f.Kind {
	case "gitlab":
		body, base, end, value = "description", "target_branch", "state_event", "close"
	case "gitea", "forgejo":
		status = http.StatusCreated
	}
	sent := f.body(r)
	if _, closing := sent[end]; closing && len(sent) == 1 {
		if sent[end] != value {
			f.problem("%s %v", end, sent[end])
		}
		request.State = "closed"
	} else {
		names := []string{"title", body}
		if _, moved := sent[base]; moved {
			names = append(names, base)
		}
		in := f.named(sent, names...)
		request.Title, request.Body, request.Base = in["title"], in[body], cmp.Or(in[base], request.Base)
	}
	answerJSON(w, status, f.object(request))
}

// object is a request as the forge's API has it.
func (f *Forge) object(r *ForgeRequest) map[string]any {
	project := 1
	if r.Fork {
		project = 100 + r.Number
	}
	if f.Kind == "gitlab" {
		state := r.State
		if state == "open" {
			state = "opened"
		}
		return map[string]any{
			"iid": r.Number, "id": 1000 + r.Number, "state": state, "title": r.Title, "description": r.Body,
			"web_url":       fmt.Sprintf("https://example.com/%s/-/merge_requests/%d", f.Repository, r.Number),
			"source_branch": r.Head, "target_branch": r.Base, "source_project_id": project, "target_project_id": 1,
			"sha": r.Commit, "allow_collaboration": r.Fork && r.Editable, "merge_status": map[bool]string{true: "can_be_merged", false: "unchecked"}[r.Merges],
		}
	}
	state := r.State
	if state == "merged" {
		state = "closed"
	}
	object := map[string]any{
		"number": r.Number, "id": 1000 + r.Number, "state": state, "title": r.Title, "body": r.Body, "merged_at": nil,
		"html_url": fmt.Sprintf("https://example.com/%s/pull/%d", f.Repository, r.Number),
		"head":     map[string]any{"ref": r.Head, "sha": r.Commit, "repo": map[string]string{"full_name": r.from(f)}},
		"base":     map[string]any{"ref": r.Base, "repo": map[string]string{"full_name": f.Repository}},
	}
	if r.State == "merged" {
		object["merged_at"] = "2026-05-01T12:00:00Z"
	}
	if f.Kind != "github" {
		object["allow_maintainer_edit"], object["mergeable"] = r.Editable, r.Merges
	}
	return object
}

func answerJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// GitHost serves the repositories below a folder over git's smart HTTP protocol, with the
// git program (git-http-backend(1)). It is an http.Handler.
type GitHost struct {
	// Root is the folder.
	Root string
	// User and Password must be sent by basic authentication; without them nothing is asked
	// for. A client that has sent a user may push, too.
	User, Password string
}

// ServeHTTP answers git.
func (h GitHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if h.Password != "" && (user == "" || h.User != "" && user != h.User || password != h.Password) {
		w.Header().Set("WWW-Authenticate", `Basic realm="testrepos"`)
		http.Error(w, "wrong user or password", http.StatusUnauthorized)
		return
	}
	git, err := exec.LookPath("git")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	backend := cgi.Handler{Path: git, Args: []string{"http-backend"}, Stderr: io.Discard, Env: []string{
		"GIT_PROJECT_ROOT=" + h.Root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=" + user,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=receive.autogc", "GIT_CONFIG_VALUE_1=false",
	}}
	backend.ServeHTTP(w, r)
}
