package resource

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// TestErrands: equal errands are one, which no client ends; a panic is an error of its own
// errand; each ends in time, and none begins after the end.
func TestErrands(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := NewErrands(slog.New(slog.DiscardHandler))
		calls, end := 0, make(chan struct{})
		slow := func(ctx context.Context) (any, error) {
			calls++
			select {
			case <-end:
			case <-ctx.Done():
			}
			return calls, ctx.Err()
		}
		type answer struct {
			value any
			err   error
		}
		ask := func(ctx context.Context, key string, fn func(context.Context) (any, error)) chan answer {
			answers := make(chan answer, 1)
			go func() {
				value, err := e.Do(ctx, key, fn)
				answers <- answer{value, err}
			}()
			synctest.Wait()
			return answers
		}
		first, leave := context.WithCancel(t.Context())
		left, joined, other := ask(first, "a", slow), ask(t.Context(), "a", slow), ask(t.Context(), "b", slow)
		leave()
		if got := <-left; !errors.Is(got.err, context.Canceled) {
			t.Errorf("who went away got %+v", got)
		}
		close(end)
		if got := <-joined; got.err != nil || calls != 2 {
			t.Errorf("who joined got %+v after %d calls", got, calls)
		}
		<-other
		if got := <-ask(t.Context(), "a", func(context.Context) (any, error) { panic("boom") }); got.err == nil {
			t.Error("a panic is no error")
		}
		end = make(chan struct{})
		began := time.Now()
		if got := <-ask(t.Context(), "a", slow); !errors.Is(got.err, context.DeadlineExceeded) || time.Since(began) != maxErrand {
			t.Errorf("a hanging one: %+v after %s", got, time.Since(began))
		}
		last := ask(t.Context(), "a", slow)
		e.End()
		if got := <-last; !errors.Is(got.err, context.Canceled) {
			t.Errorf("at the end: %+v", got)
		}
		if got := <-ask(t.Context(), "a", slow); !errors.Is(got.err, context.Canceled) || calls != 4 {
			t.Errorf("after the end: %+v, %d calls", got, calls)
		}
		e.End()
	})
}
