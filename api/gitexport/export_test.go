package gitexport

import (
	"net/http"
	"time"
)

// Bounded makes a Handler without a logger with other bounds; zero is one for rounds, and an
// hour for times.
func Bounded(find Find, client func(r *http.Request) string, rounds int64, queue, run, stall time.Duration) *Handler {
	b := bounds{max(rounds, 1), queue, run, stall}
	for _, d := range []*time.Duration{&b.queue, &b.run, &b.stall} {
		if *d == 0 {
			*d = time.Hour
		}
	}
	return newHandler(find, client, nil, b)
}
