package store

import "sync"

// keptBy caches values that were read in a generation: of a component, or of everything.
// A value is used only for the generation that it was read in, so it is never stale.
// Callers must not modify values. It is safe for concurrent use.
type keptBy[K comparable, V any] struct {
	mu         sync.RWMutex
	byKey      map[K]keptValue[V]
	size, room int
}

type keptValue[V any] struct {
	generation int64
	size       int
	value      V
}

// newKept makes a cache with room for values whose sizes add up to room.
func newKept[K comparable, V any](room int) *keptBy[K, V] {
	return &keptBy[K, V]{byKey: map[K]keptValue[V]{}, room: room}
}

// get returns the value of a generation. Nothing has the generation 0, which that of
// components is that are not active.
func (k *keptBy[K, V]) get(key K, generation int64) (value V, ok bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if kept := k.byKey[key]; kept.generation == generation && generation != 0 {
		return kept.value, true
	}
	return value, false
}

// newest returns the value of the newest generation that is kept, or the zero value.
func (k *keptBy[K, V]) newest(key K) V {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.byKey[key].value
}

// put keeps a value, unless a newer one is kept or it is too large. Where there is no
// room, all others go.
func (k *keptBy[K, V]) put(key K, generation int64, value V, size int) {
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
