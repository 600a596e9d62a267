// Package kept has caches of values that were read in a generation of a component, or of
// everything: never stale, bounded, without a copy.
//
// Non-goals: which values, and which generations.
package kept

import "sync"

// By caches values that were read in a generation: of a component, or of everything.
// A value is used only for the generation that it was read in, so it is never stale.
// Callers must not modify values. It is safe for concurrent use.
type By[K comparable, V any] struct {
	mu         sync.RWMutex
	byKey      map[K]keptValue[V]
	size, room int
}

type keptValue[V any] struct {
	generation int64
	size       int
	value      V
}

// New makes a cache with room for values whose sizes add up to room.
func New[K comparable, V any](room int) *By[K, V] {
	return &By[K, V]{byKey: map[K]keptValue[V]{}, room: room}
}

// Get returns the value of a generation. Nothing has the generation 0, which that of
// components is that are not active.
func (k *By[K, V]) Get(key K, generation int64) (value V, ok bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if kept := k.byKey[key]; kept.generation == generation && generation != 0 {
		return kept.value, true
	}
	return value, false
}

// GetOr is Get, and otherwise reads the value, with its size, and keeps it.
func (k *By[K, V]) GetOr(key K, generation int64, read func() (V, int, error)) (V, error) {
	if value, ok := k.Get(key, generation); ok {
		return value, nil
	}
	value, size, err := read()
	if err == nil {
		k.Put(key, generation, value, size)
	}
	return value, err
}

// Newest returns the value of the newest generation that is kept, or the zero value.
func (k *By[K, V]) Newest(key K) V {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.byKey[key].value
}

// Put keeps a value, unless a newer one is kept or it is too large. Where there is no
// room, all others go.
func (k *By[K, V]) Put(key K, generation int64, value V, size int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.byKey[key]
	if old.generation > generation || size > k.room {
		return
	}
	if k.size += size - old.size; k.size > k.room {
		clear(k.byKey)
		k.size = size
	}
	k.byKey[key] = keptValue[V]{generation, size, value}
}
