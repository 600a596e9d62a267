package server

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// BaseMemory is the lowest memory limit of commands that only import. It makes the garbage collector run before
// the heap has doubled, which lowers the peak of a usual import at no cost (vim-po, 103,000 units: 244 MiB
// of memory in all).
const BaseMemory = 208 << 20

// ServeMemory is the lowest memory limit of a server, most of whose live heap is
// rendered answers: with BaseMemory it would keep as much garbage beside them.
const ServeMemory = 80 << 20

// lessMemory is subtracted from the double of larger heaps: little for a gigabyte,
// a fifth for a usual replay, whose memory is mostly buffers.
const lessMemory = 48 << 20

// Limit adjusts the soft memory limit until stop is called, from base upwards, but
// not above the heap's share of the available memory. It follows the live heap: with a
// fixed limit of BaseMemory, the import of a file of a million entries, which needs
// a gigabyte, spent 70 % of its time in the garbage collector. Where the environment
// variable GOMEMLIMIT sets it, it stays as it is.
func (m Memory) Limit(base int64) (stop func()) {
	if m.fixed {
		return func() {}
	}
	base = min(base, m.heap())
	debug.SetMemoryLimit(base)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				debug.SetMemoryLimit(min(memoryLimit(base, liveHeap()), m.heap()))
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// memoryLimit is the limit for a heap with so many live bytes: collecting is worth
// its time as long as half of the memory is garbage.
func memoryLimit(base int64, live uint64) int64 {
	return max(base, int64(2*live)-lessMemory)
}

// liveHeap is the size of the heap that the last collection found in use.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
