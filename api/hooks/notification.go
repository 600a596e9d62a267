package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/repoglot/repoglot/api/limit"
)

const (
	// maxURLs and maxText bound what is compared: services name up to a dozen addresses.
	maxURLs = 64
	maxText = 2 << 10
)

// notification is what a call says about a push or a request.
type notification struct {
	// service is the title of the service.
	service string
	// repos are the addresses of the repository.
	repos []string
	// repoURL is the address for people.
	repoURL string
	// fullName is owner and name, "" if unknown.
	fullName string
	// branches are the branches pushed, without refs/heads/; empty means any.
	branches []string
	// defaultBranch is "" if unknown.
	defaultBranch string
	// ofRequest says that a request to merge into the branch began, was changed or ended.
	ofRequest bool
}

// normalize drops texts that no repository has. The rest is compared and logged.
func (n *notification) normalize() {
	n.repos = usable(n.repos)
	for i := range n.repos {
		n.repos[i] = normalAddress(n.repos[i])
	}
	for i := range n.branches {
		n.branches[i] = branchOf(n.branches[i])
	}
	n.branches = usable(n.branches)
	n.fullName = strings.Trim(firstUsable(n.fullName), "/")
	n.repoURL = firstUsable(n.repoURL)
	n.defaultBranch = firstUsable(branchOf(n.defaultBranch))
}

func branchOf(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// usable returns the valid texts of a list, each once.
func usable(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		bad := s == "" || len(s) > maxText || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl)
		if bad || seen[s] || len(out) == maxURLs {
			continue
		}
		seen[s] = true
		out = append(out, s)
	}
	return out
}

func firstUsable(list ...string) string { return cmp.Or(usable(list)...) }

// errMissingField is returned for a payload without a field that the service sends.
var errMissingField = errors.New("the payload lacks what a push has")

// texts is a part of a payload: an object whose texts are found by their paths.
type texts struct{ gjson.Result }

// maxPart bounds the part of a payload that describes a repository or a request: in a body
// of 25 MiB each look for a text would take long. Of lists the first maxURLs entries are read.
const maxPart = 1 << 20

// part returns the object at a path, or an empty one if there is another value or a large one.
func (t texts) part(path string) texts {
	if r := t.Get(path); r.IsObject() && len(r.Raw) <= maxPart {
		return texts{r}
	}
	return texts{}
}

// text returns the first text at one of several paths that is neither empty nor another type.
func (t texts) text(paths ...string) string {
	for _, path := range paths {
		if r := t.Get(path); r.Type == gjson.String && r.Str != "" {
			return r.Str
		}
	}
	return ""
}

// all returns the texts at several paths.
func (t texts) all(paths ...string) (list []string) {
	for _, path := range paths {
		list = append(list, t.text(path))
	}
	return list
}

// each returns a text of each entry of a list, and whether it is a list, or none.
func (t texts) each(list string, paths ...string) (out []string, ok bool) {
	entries := t.Get(list)
	if !entries.IsArray() {
		return nil, entries.Type == gjson.Null
	}
	for _, entry := range entries.All() {
		if len(out) == maxURLs {
			break
		}
		out = append(out, texts{entry}.text(paths...))
	}
	return out, true
}

const (
	// maxBody bounds a call: GitHub sends up to 25 MB.
	maxBody = 25 << 20
	// maxBodies bounds all bodies in memory together, maxClientBodies those of one
	// client: a body counts one and a half times while it is read.
	maxBodies       = 96 << 20
	maxClientBodies = 48 << 20
	// maxVolume bounds the bytes of the bodies that a client sends in volumeSpan without
	// a proof in the headers: receiving large ones over and over is work, too.
	maxVolume  = 100 << 20
	volumeSpan = time.Minute
)

var errNoForm = errors.New("the form has no payload")

// errVolume says that a client sent too much; the value is the seconds until it may again.
type errVolume int

func (errVolume) Error() string { return "the client has sent too much" }

// readBody reads the body of a call into memory that is held until free. Callers who proved a
// secret by headers have a pool of their own, which no stranger can use up. Those of others have
// their bytes counted: what would be too much is refused before it is read, if its length is known.
func (s *Server) readBody(r *http.Request, k *call, proven bool) (free func(), err error) {
	client, pool, body := s.Client(r), s.provenBodies, io.Reader(r.Body)
	if !proven {
		pool, body = s.bodies, metered{r.Body, s.volume, client}
	}
	lease := pool.Lease(client)
	if r.ContentLength > maxBody {
		return lease.Release, limit.ErrTooLarge
	}
	if a, _ := s.volume.TakeN(client, 0); !proven && int64(a.Remaining) < r.ContentLength {
		return lease.Release, errVolume(a.Reset)
	}
	k.body, err = lease.ReadAll(body, maxBody)
	return lease.Release, err
}

type metered struct {
	io.Reader
	volume *limit.Limiter
	client string
}

func (m metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if a, _ := m.volume.TakeN(m.client, n); !a.Allowed {
		return 0, errVolume(a.Reset)
	}
	return n, err
}

// payloadOf returns the JSON of a body: the body, or the field payload of a
// form (docs/compatibility.md#webhooks).
func payloadOf(r *http.Request, body []byte) ([]byte, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return body, nil
	}
	// url.ParseQuery would keep every field of a hostile form.
	for field := range bytes.SplitSeq(body, []byte("&")) {
		if value, ok := bytes.CutPrefix(field, []byte("payload=")); ok {
			text, err := url.QueryUnescape(string(value))
			return []byte(text), err
		}
	}
	return nil, errNoForm
}

// isEmpty reports whether a JSON payload is not an object or has no keys.
func isEmpty(payload []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(payload), []byte("{"))
	return !ok || bytes.HasPrefix(bytes.TrimSpace(rest), []byte("}"))
}

// matchStatus counts components by how far they match (docs/compatibility.md#webhooks).
type matchStatus struct {
	Repository int `json:"repository_matches"`
	Branch     int `json:"branch_matches"`
	Enabled    int `json:"enabled_hook_matches"`
}

type answer struct {
	status int
	text   bool // plain text: only the message
	header http.Header
	after  []func() // what is done when it is sent

	Status  string       `json:"status"`
	Message string       `json:"message"`
	Match   *matchStatus `json:"match_status,omitempty"`
	Updated []string     `json:"updated_components,omitempty"`
}

func success(status int, message string) answer {
	return answer{status: status, Status: "success", Message: message}
}

func failure(status int, message string) answer {
	return answer{status: status, Status: "failure", Message: message}
}

func badPayload(message string) answer {
	return answer{status: http.StatusBadRequest, text: true, Status: "failure", Message: message}
}

func bodyProblem(err error) answer {
	var volume errVolume
	switch {
	case errors.As(err, &volume):
		return failure(http.StatusTooManyRequests, "This client sends too much.").retry(int(volume))
	case errors.Is(err, limit.ErrTooLarge):
		return failure(http.StatusRequestEntityTooLarge, "The body is larger than "+strconv.Itoa(maxBody>>20)+" MiB.")
	case errors.Is(err, limit.ErrShare):
		return failure(http.StatusTooManyRequests, "This client sends too many bodies at a time.").retry(10)
	case errors.Is(err, limit.ErrFull):
		return failure(http.StatusServiceUnavailable, "Too many calls at a time.").retry(10)
	default:
		return badPayload("The body could not be read!")
	}
}

// then adds what is done after the answer, so that its time does not tell of it; nil: nothing.
func (a answer) then(do func()) answer {
	if do != nil {
		a.after = append(a.after, do)
	}
	return a
}

func (a answer) allow(methods string) answer {
	a.header = http.Header{"Allow": {methods}}
	return a
}

func (a answer) retry(seconds int) answer {
	a.header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	return a
}

// results name the kinds of answers for the metrics; any other is invalid.
var results = map[int]string{
	http.StatusOK: "pull", http.StatusCreated: "ignored", http.StatusAccepted: "no match", http.StatusForbidden: "refused",
	http.StatusTooManyRequests: "failed", http.StatusServiceUnavailable: "failed",
}

func (a answer) write(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	media := "application/json"
	if a.text {
		media = "text/plain; charset=utf-8"
		body.WriteString(a.Message)
	} else {
		enc := json.NewEncoder(&body)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(a) // strings and numbers have a JSON form
	}
	sent := strings.TrimSuffix(body.String(), "\n")
	h := w.Header()
	maps.Copy(h, a.header)
	h.Set("Content-Type", media)
	h.Set("Content-Length", strconv.Itoa(len(sent)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(sent)) // the caller has gone
	}
}
