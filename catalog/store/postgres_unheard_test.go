package store

import (
	"context"
	"net"
	"runtime"
	"testing"
	"time"
)

// TestUnheard: a connection that waits for long is ended when the server does nothing
// for it twice in a row, and no other.
func TestUnheard(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer there.Close()
	u := unheard{conns: map[*heardConn]bool{}}
	c := &heardConn{Conn: here, of: &u, pid: 7}
	u.conns[c] = true
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	}()
	for c.since.Load() == 0 {
		runtime.Gosched()
	}
	late := time.Now().Add(maxUnanswered)
	asked := 0
	look := func(at time.Time, works bool, err error) {
		u.look(t.Context(), at, func(_ context.Context, pid uint32) (bool, error) {
			if asked++; pid != 7 {
				t.Errorf("asked about %d", pid)
			}
			return works, err
		})
	}
	look(time.Now(), false, nil)
	if asked != 0 {
		t.Error("asked at once")
	}
	for _, works := range []bool{false, true, false} {
		look(late, works, nil)
	}
	look(late, false, context.DeadlineExceeded)
	if !u.conns[c] || asked != 4 {
		t.Fatalf("ended, or not asked about: %d", asked)
	}
	look(late, false, nil)
	if err := <-ended; err == nil || u.conns[c] {
		t.Errorf("not ended: %v", err)
	}
}
