package server

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
)

// heapGrowth is how many per cent of garbage there are beside the live heap when it is
// collected. With 100, Go's default, an import took 5 % more memory in the same time.
const heapGrowth = 75

// Limit bounds the heap with its garbage to its share of the available memory. Where the
// environment variables GOMEMLIMIT and GOGC say otherwise, they count.
func (m Memory) Limit() {
	if !m.fixed {
		debug.SetMemoryLimit(m.heap())
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
}

// muchMemory is how much more memory a pull may leave behind than there was before it.
const muchMemory = 64 << 20

// resident is what the heap takes of the machine, in bytes, garbage included.
func resident() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// giveBack gives memory back to the system if work left much of it behind; before is resident
// at its begin. A server that imported a file of 1,000,000 entries kept 200 MiB until the next
// collection, which may be two minutes later.
func giveBack(before int64) {
	if resident()-before > muchMemory {
		debug.FreeOSMemory()
	}
}

// Memory is what a process may take, in bytes.
type Memory struct {
	// bytes is the least of the limits of its cgroup, of itself (prlimit), of GOMEMLIMIT
	// and of the machine; 0 if none is known.
	bytes int64
	// fixed says that GOMEMLIMIT is set.
	fixed bool
	// reserved says that bytes counts memory that is reserved and not used, too (prlimit).
	reserved bool
}

// The shares of the available Memory: Go's heap with its garbage, and what pulls hold of
// that by estimate. The rest is for the code, for SQLite and for what estimates miss.
// What Go gave back stays reserved: of a limit that counts it the heap gets less. With 0.6 a
// process of 330 MiB had reserved 490 of 512 once, and another one ended by it.
const (
	heapShare         = 0.6
	heapReservedShare = 0.5
	importShare       = 0.45
)

func (m Memory) heap() int64 {
	if m.bytes == 0 {
		return math.MaxInt64
	}
	share := heapShare
	if m.reserved {
		share = heapReservedShare
	}
	return int64(share * float64(m.bytes))
}

// imports is the share of pulls; 0 if it is not known.
func (m Memory) imports() int64 { return int64(importShare * float64(m.bytes)) }

// AvailableMemory returns what this process may take. fixed says that GOMEMLIMIT is set.
func AvailableMemory(fixed bool) Memory {
	limited := limitedMemory()
	m := Memory{bytes: least(fileMemory("/"), limited), fixed: fixed}
	m.reserved = m.bytes == limited
	if fixed {
		if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
			m.bytes = least(m.bytes, limit)
		}
	}
	return m
}

// least returns the lesser of two limits that are known, that is, not 0.
func least(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// fileMemory is what the files of Linux below root say about the memory of the machine and
// of the cgroups that the process is in, of version 2 and 1; 0 if they say nothing.
func fileMemory(root string) (n int64) {
	text := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(root, name)) // "" where the system has no such file
		return string(data)
	}
	if _, rest, ok := strings.Cut(text("proc/meminfo"), "MemTotal:"); ok {
		if kib, err := strconv.ParseInt(strings.Fields(rest + " x")[0], 10, 64); err == nil {
			n = kib << 10
		}
	}
	for line := range strings.Lines(text("proc/self/cgroup")) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		dir, file := "sys/fs/cgroup", "memory.max"
		switch {
		case len(f) != 3 || f[0] != "0" && !slices.Contains(strings.Split(f[1], ","), "memory"):
			continue
		case f[0] != "0":
			dir, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		// In a container the path may be the host's, and the limit at the root.
		for group := path.Clean("/" + f[2]); ; group = path.Dir(group) {
			if limit, err := strconv.ParseInt(strings.TrimSpace(text(path.Join(dir, group, file))), 10, 64); err == nil {
				n = least(n, limit)
			}
			if group == "/" {
				break
			}
		}
	}
	return n
}
