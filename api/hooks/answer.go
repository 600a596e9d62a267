package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/limit"
)

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
		return failure(http.StatusTooManyRequests, "This client sends too much.").retryIn(int(volume))
	case errors.Is(err, limit.ErrTooLarge):
		return failure(http.StatusRequestEntityTooLarge, "The body is larger than "+strconv.Itoa(maxBody>>20)+" MiB.")
	case errors.Is(err, limit.ErrShare):
		return failure(http.StatusTooManyRequests, "This client sends too many bodies at a time.").retry()
	case errors.Is(err, limit.ErrFull):
		return failure(http.StatusServiceUnavailable, "Too many calls at a time.").retry()
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

func (a answer) retry() answer { return a.retryIn(10) }

func (a answer) retryIn(seconds int) answer {
	a.header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	return a
}

// result names the kind of answer for the metrics.
func (a answer) result() string {
	switch a.status {
	case http.StatusOK:
		return "pull"
	case http.StatusCreated:
		return "ignored"
	case http.StatusAccepted:
		return "no match"
	case http.StatusForbidden:
		return "refused"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return "failed"
	}
	return "invalid"
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
	for key, value := range a.header {
		h[key] = value
	}
	h.Set("Content-Type", media)
	h.Set("Content-Length", strconv.Itoa(len(sent)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(sent)) // the caller has gone
	}
}
