package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// maxRefusals bounds the lines about refused tokens in a minute: strangers can cause
// any number.
const maxRefusals = 20

// audit logs refused tokens, never the tokens.
type audit struct {
	log *slog.Logger
	now func() time.Time

	mu    sync.Mutex
	since time.Time // the beginning of the minute
	lines int       // in it
	more  int       // refused in it, and not logged
}

// refused logs that a token was refused.
func (a *audit) refused(client string, r *http.Request, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.now(); now.Sub(a.since) >= time.Minute {
		if a.more > 0 {
			a.log.Warn("more tokens were refused", "count", a.more, "since", a.since.UTC().Format(time.RFC3339))
		}
		a.since, a.lines, a.more = now, 0, 0
	}
	if a.lines++; a.lines > maxRefusals {
		a.more++
		return
	}
	a.log.Warn("token refused", "client", client, "method", r.Method, "path", fmt.Sprintf("%.200s", r.URL.Path), "problem", why)
}
