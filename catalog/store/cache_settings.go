package store

import (
	"encoding/json"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog"
)

// settingsCache keeps the settings of projects or components decoded. Every answer
// shows some, a list of 1,000 components shows 1,000, and decoding took most of
// its time. An entry is used only if its text equals the stored text, so it cannot
// come from another transaction. There is one entry per row.
type settingsCache[T any] struct {
	mu   sync.RWMutex
	kept map[int64]keptSettings[T]
}

type keptSettings[T any] struct {
	text  string
	value T
}

// decode returns the settings of a row. They are shared: callers must not modify
// their slices.
func (c *settingsCache[T]) decode(id int64, text []byte) (T, error) {
	c.mu.RLock()
	kept, ok := c.kept[id]
	c.mu.RUnlock()
	if ok && kept.text == string(text) {
		return kept.value, nil
	}
	kept = keptSettings[T]{text: string(text)}
	if err := json.Unmarshal(text, &kept.value); err != nil {
		return kept.value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[int64]keptSettings[T]{}
	}
	c.kept[id] = kept
	return kept.value, nil
}

// shared is what all sessions of a database have in common.
type shared struct {
	statements prometheus.Counter
	projects   settingsCache[catalog.ProjectSettings]
	components settingsCache[catalog.ComponentSettings]
}
