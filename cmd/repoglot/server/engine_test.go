package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/repoglot/repoglot/catalog/store"
)

// TestLockSoon: lockSoon waits for a command that holds the lock for a moment, but
// not for a server, nor after the end of its context.
func TestLockSoon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := store.Lock(dir)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lockSoon(ctx, dir); !errors.Is(err, store.ErrLocked) {
		t.Errorf("in use: %v", err)
	}
	got := make(chan error)
	go func() {
		unlock, err := lockSoon(t.Context(), dir)
		if err == nil {
			err = unlock()
		}
		got <- err
	}()
	must(t, unlock())
	if err := <-got; err != nil {
		t.Errorf("given back: %v", err)
	}
}

// TestConfigureAgain: a configuration is stored once the database can store it, unless it
// is at fault itself.
func TestConfigureAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute+configurePause/2)
		defer cancel()
		var log strings.Builder
		logger := slog.New(slog.NewTextHandler(&log, nil))
		for _, tt := range []struct {
			failures int
			err      error
			runs     int
			stored   bool
		}{{0, nil, 1, true}, {3, store.ErrWriting, 4, true}, {3, errors.New("broken"), 1, false}, {1000, store.ErrWriting, 58, false}} {
			runs := 0
			err := again(ctx, logger, store.ErrWriting, func() error {
				if runs++; runs <= tt.failures {
					return fmt.Errorf("storing: %w", tt.err)
				}
				return nil
			})
			if runs != tt.runs || (err == nil) != tt.stored {
				t.Errorf("%d times %v: %d runs, %v", tt.failures, tt.err, runs, err)
			}
		}
		if n := strings.Count(log.String(), "it is tried again"); n != 2 {
			t.Errorf("said %d times:\n%s", n, &log)
		}
	})
}
