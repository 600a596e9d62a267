package server

import (
	"bytes"
	"sync"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

var must = gittest.Must

// written is a log that a test reads while it is written.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends.
func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// String returns the text so far.
func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
