package api

import (
	"strconv"
	"strings"
)

// renderOnce renders an answer that can be kept, or waits for another request
// that is rendering it: after a pull the cache is empty, and all clients ask for
// the same pages. A request that came after a pull waits only for what began after
// it, since the generation is a part of the flight's key. Where the other request
// fails or its client goes away, the answer is rendered anew.
func (s *Server) renderOnce(x exchange, key cacheKey, render func() rendering) rendering {
	mine := false
	result := s.flights.DoChan(key.flight(s.db.Published()), func() (any, error) {
		mine = true
		made := render()
		if made.variants != nil && made.generation > 0 {
			s.cache.put(key, made.generation, x.rt, made.variants)
		}
		return made, nil
	})
	select {
	case done := <-result:
		if made := done.Val.(rendering); mine || made.variants != nil {
			return made
		}
	case <-x.req.Context().Done():
	}
	return render()
}

// flight names the rendering of an answer in a generation.
func (k cacheKey) flight(generation int64) string {
	return strings.Join([]string{strconv.FormatInt(generation, 10), k.base, k.target, k.accept, k.access}, "\x00")
}
