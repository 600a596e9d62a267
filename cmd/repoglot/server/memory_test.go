package server

import (
	"runtime"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	for live, want := range map[uint64]int64{
		0:         208 << 20,
		100 << 20: 208 << 20,
		128 << 20: 208 << 20,
		150 << 20: 252 << 20,
		1 << 30:   2000 << 20,
	} {
		if got := memoryLimit(BaseMemory, live); got != want {
			t.Errorf("memoryLimit(%d) = %d, want %d", live, got, want)
		}
	}
}

// The runtime may rename the metric.
func TestLiveHeap(t *testing.T) {
	held := make([]byte, 8<<20)
	runtime.GC()
	if live := liveHeap(); live < 8<<20 {
		t.Errorf("%d bytes are in use, want at least those held here", live)
	}
	runtime.KeepAlive(held)
}
