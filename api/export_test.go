package api

// SpoolAll makes every download one that does not fit into memory.
func SpoolAll(s *Server) { s.spoolMemory = 0 }

// FillCatchingUp makes it seem that as many requests as may wait for a generation do so,
// until free is called.
func FillCatchingUp(s *Server) (free func()) {
	for range cap(s.catchingUp) {
		s.catchingUp <- struct{}{}
	}
	return func() {
		for range cap(s.catchingUp) {
			<-s.catchingUp
		}
	}
}

// OldForm is the body of an error without the keys that Weblate has since 5.10.
func OldForm(body string) string { return oldForm(body) }
