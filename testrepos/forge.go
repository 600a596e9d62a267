package testrepos

import (
	"cmp"
	_ "embed" // of forges.json
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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
	// Editable: maintainers may push to a fork's branch. Merges: there is no conflict.
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
	// Kind is github, gitlab, gitea or forgejo; Repository its path; Token the secret.
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

// End ends a request: merged, closed, or removed, as an owner can on GitLab and Gitea.
func (f *Forge) End(number int, state string) {
	f.Change(number, func(r *ForgeRequest) { r.State = state })
}

// Change changes a request, as somebody else would.
func (f *Forge) Change(number int, change func(*ForgeRequest)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.requests[number-1])
}

func (f *Forge) problem(format string, args ...any) {
	f.problems = append(f.problems, fmt.Sprintf(format, args...))
}

// dialect is what the API of one kind of forge has of its own.
type dialect struct {
	Path             string // of the requests
	User, Name       string // the call that tells whose the token is, and the key of names
	Comments, Edit   string // the paths of the comments of a request and of a comment
	Author           string // the key of a comment's author
	Update           string // the method of changes
	Updated          int    // the status of their answers
	Head, Base, Body string
	Open             string   // the state of open requests
	End, Ended       string   // the key and value that close one
	Query            []string // the keys of a list
	Exists           int      // the status and message for a second request of a branch
	Message          any
	Headers          map[string]string
}

// dialects has one for each kind of forge; Forgejo speaks Gitea's.
//
//go:embed forges.json
var dialects string

func (f *Forge) dialect() dialect {
	text := strings.NewReplacer("{repository}", f.Repository, "{escaped}", url.PathEscape(f.Repository), "{token}", f.Token).Replace(dialects)
	var all map[string]dialect
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		panic(err) // a name or token with a quotation mark
	}
	return all[cmp.Or(map[string]string{"forgejo": "gitea"}[f.Kind], f.Kind)]
}

// Path is where its API has the requests.
func (f *Forge) Path() string { return f.dialect().Path }

// ServeHTTP answers one call.
func (f *Forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.Hook != nil && f.Hook(w, r) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.dialect()
	if !f.allowed(d, r) {
		answerJSON(w, http.StatusUnauthorized, map[string]string{"message": "Bad credentials"})
		return
	}
	mux := http.NewServeMux()
	handle := func(pattern string, status int, answer func(r *http.Request) any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			switch object := answer(r).(type) {
			case nil:
				answerJSON(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
			case refusal:
				answerJSON(w, object.status, object.body)
			default:
				answerJSON(w, status, object)
			}
		})
	}
	// numbered is about a request that exists.
	numbered := func(answer func(r *http.Request, request *ForgeRequest) any) func(*http.Request) any {
		return func(r *http.Request) any {
			number, err := strconv.Atoi(r.PathValue("number"))
			if err != nil || number < 1 || number > len(f.requests) || f.requests[number-1].State == "removed" {
				return nil
			}
			return answer(r, &f.requests[number-1])
		}
	}
	unknown := func(r *http.Request) any {
		f.problem("%s %s", r.Method, r.URL)
		return refusal{http.StatusMethodNotAllowed, map[string]string{"message": "method"}}
	}
	handle("/", http.StatusOK, func(*http.Request) any { return nil })
	handle(d.Path, http.StatusOK, unknown)
	handle(d.Path+"/{number}", http.StatusOK, unknown)
	handle("GET "+d.Path, http.StatusOK, func(r *http.Request) any { return f.list(d, r.URL.Query()) })
	handle("POST "+d.Path, http.StatusCreated, func(r *http.Request) any { return f.open(d, r) })
	handle("GET "+d.Path+"/{number}", http.StatusOK, numbered(func(_ *http.Request, request *ForgeRequest) any {
		object := f.object(request)
		if f.Kind == "github" { // which its lists lack
			object["maintainer_can_modify"], object["mergeable"] = request.Editable, request.Merges
		}
		return object
	}))
	handle(d.Update+" "+d.Path+"/{number}", d.Updated, numbered(func(r *http.Request, request *ForgeRequest) any { return f.update(d, r, request) }))
	handle("GET /api/v4/projects/{fork}", http.StatusOK, f.project)
	handle(d.User, http.StatusOK, func(r *http.Request) any { return f.user(d, r) })
	handle("GET "+d.Comments, http.StatusOK, numbered(func(r *http.Request, request *ForgeRequest) any { return f.listComments(d, r, request) }))
	handle("POST "+d.Comments, http.StatusCreated, numbered(func(r *http.Request, request *ForgeRequest) any {
		f.comments = append(f.comments, ForgeComment{request.Number, ForgeBot, f.named(f.body(r), "body")["body"]})
		return f.comment(d, len(f.comments))
	}))
	handle(d.Update+" "+d.Edit, http.StatusOK, func(r *http.Request) any { // an owner's token may change those of others, too
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil || id < 1 || id > len(f.comments) {
			return nil
		}
		f.comments[id-1].Body = f.named(f.body(r), "body")["body"]
		return f.comment(d, id)
	})
	mux.ServeHTTP(w, r)
}

// refusal is an answer with another status.
type refusal struct {
	status int
	body   any
}

// project answers about a fork on GitLab: its number is that of its request after 100.
func (f *Forge) project(r *http.Request) any {
	number, err := strconv.Atoi(r.PathValue("fork"))
	if number -= 100; f.Kind != "gitlab" || err != nil || number < 1 || number > len(f.requests) || !f.requests[number-1].Fork {
		return nil
	}
	return map[string]any{"id": number, "path_with_namespace": f.requests[number-1].from(f)}
}

// user says whose the token is.
func (f *Forge) user(d dialect, r *http.Request) any {
	me := map[string]any{d.Name: ForgeBot}
	if f.Kind == "github" {
		_ = f.named(f.body(r), "query")
		me = map[string]any{"data": map[string]any{"viewer": me}}
	}
	return me
}

// comment is a comment as the forge's API has it. Their ids number from 1.
func (f *Forge) comment(d dialect, id int) map[string]any {
	c := f.comments[id-1]
	return map[string]any{"id": id, "body": c.Body, d.Author: map[string]any{d.Name: c.Author}}
}

func (f *Forge) listComments(d dialect, r *http.Request, request *ForgeRequest) any {
	list := []any{}
	for i := range f.comments {
		if f.comments[i].Request == request.Number {
			list = append(list, f.comment(d, i+1))
		}
	}
	if page, _ := strconv.Atoi(r.URL.Query().Get("page")); f.Kind == "github" || f.Kind == "gitlab" { // the others have one page
		list = list[min(len(list), 100*(page-1)):min(len(list), 100*page)]
	}
	return list
}

// allowed checks the headers of a call.
func (f *Forge) allowed(d dialect, r *http.Request) bool {
	if r.Method != http.MethodGet {
		d.Headers["Content-Type"] = "application/json"
	}
	for name, value := range d.Headers {
		if r.Header.Get(name) != value {
			f.problem("%s %s: header %s", r.Method, r.URL, name)
			return false
		}
	}
	return r.Header.Get("User-Agent") != ""
}

// list answers with the open requests that a query selects.
func (f *Forge) list(d dialect, query url.Values) any {
	for name := range query {
		if !slices.Contains(d.Query, name) {
			f.problem("query %s", name)
		}
	}
	if query.Get("state") != d.Open {
		f.problem("state %q", query.Get("state"))
	}
	owner, _, _ := strings.Cut(f.Repository, "/")
	found := []any{}
	for i := range slices.Backward(f.requests) {
		r := &f.requests[i]
		head := r.Head
		if f.Kind == "github" {
			head = owner + ":" + head
		}
		fits := func(name, value string) bool { return !query.Has(name) || query.Get(name) == value }
		if r.State == "open" && fits(d.Head, head) && fits(d.Base, r.Base) {
			found = append(found, f.object(r))
		}
	}
	page, _ := strconv.Atoi(query.Get("page"))
	limit, _ := strconv.Atoi(cmp.Or(query.Get("limit"), query.Get("per_page")))
	from := min(len(found), max(0, (page-1)*limit))
	return found[from:min(len(found), from+limit)]
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

func (f *Forge) open(d dialect, r *http.Request) any {
	in := f.named(f.body(r), "title", d.Head, d.Base, d.Body)
	for _, other := range f.requests {
		if other.State == "open" && !other.Fork && other.Head == in[d.Head] && other.Base == in[d.Base] {
			return refusal{d.Exists, map[string]any{
				"message": d.Message, // GitHub tells it in the errors
				"errors":  []any{map[string]string{"resource": "PullRequest", "message": "A pull request already exists for x."}},
			}}
		}
	}
	f.requests = append(f.requests, ForgeRequest{Number: len(f.requests) + 1, State: "open", Head: in[d.Head], Base: in[d.Base], Title: in["title"], Body: in[d.Body]})
	return f.object(&f.requests[len(f.requests)-1])
}

func (f *Forge) update(d dialect, r *http.Request, request *ForgeRequest) any {
	sent := f.body(r)
	if _, closing := sent[d.End]; closing && len(sent) == 1 {
		if sent[d.End] != d.Ended {
			f.problem("%s %v", d.End, sent[d.End])
		}
		request.State = "closed"
		return f.object(request)
	}
	names := []string{"title", d.Body}
	if _, moved := sent[d.Base]; moved {
		names = append(names, d.Base)
	}
	in := f.named(sent, names...)
	request.Title, request.Body, request.Base = in["title"], in[d.Body], cmp.Or(in[d.Base], request.Base)
	return f.object(request)
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
