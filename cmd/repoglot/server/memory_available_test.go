package server

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestFileMemory: the least limit of the machine and of the groups that a process is in
// counts, wherever the system shows it.
func TestFileMemory(t *testing.T) {
	t.Parallel()
	const meminfo = "MemTotal:       16000 kB\nMemFree:         100 kB\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is known": {nil, 0},
		"machine":          {map[string]string{"proc/meminfo": meminfo}, 16000 << 10},
		"no limit":         {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 16000 << 10},
		"container":        {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "5000\n"}, 5000},
		"unit": {map[string]string{
			"proc/self/cgroup":                                       "0::/system.slice/repoglot.service\n",
			"sys/fs/cgroup/system.slice/memory.max":                  "9000\n",
			"sys/fs/cgroup/system.slice/repoglot.service/memory.max": "max\n",
		}, 9000},
		"version 1": {map[string]string{
			"proc/self/cgroup": "5:freezer:/\n4:cpu,memory:/a\n0::/\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "7000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 7000},
		"version 1 in a container": {map[string]string{
			"proc/self/cgroup": "4:memory:/docker/a\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "7000\n",
		}, 7000},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range tt.files {
				file = filepath.Join(root, file)
				must(t, os.MkdirAll(filepath.Dir(file), 0o700))
				must(t, os.WriteFile(file, []byte(text), 0o600))
			}
			if got := fileMemory(root); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}

// TestMemoryShares: what pulls hold leaves room for garbage within the heap's share, and
// the heap leaves room for the rest. Without a known limit none is set.
func TestMemoryShares(t *testing.T) {
	t.Parallel()
	m := Memory{bytes: 1 << 30}
	if m.imports() >= m.heap() || m.heap() >= m.bytes*3/4 {
		t.Errorf("pulls %d, heap %d of %d", m.imports(), m.heap(), m.bytes)
	}
	if m.reserved = true; m.imports() >= m.heap() || m.heap() > m.bytes/2 {
		t.Errorf("of reserved memory: pulls %d, heap %d of %d", m.imports(), m.heap(), m.bytes)
	}
	if none := (Memory{}); none.imports() != 0 || none.heap() < 1<<60 {
		t.Errorf("without a limit: %d, %d", none.imports(), none.heap())
	}
	if least(0, 3) != 3 || least(3, 0) != 3 || least(5, 3) != 3 || least(0, 0) != 0 {
		t.Error("least takes what is not known for a limit")
	}
}

// TestGiveBack: what work left behind is given back to the system, if it is much.
func TestGiveBack(t *testing.T) {
	before := resident()
	work := func(bytes int) {
		data := make([]byte, bytes)
		for i := 0; i < len(data); i += 4096 {
			data[i] = 1
		}
		runtime.KeepAlive(data)
	}
	work(4 * muchMemory)
	if left := resident() - before; left < muchMemory {
		t.Fatalf("only %d MiB are left behind", left>>20)
	}
	giveBack(before)
	if left := resident() - before; left > muchMemory {
		t.Errorf("%d MiB are kept", left>>20)
	}
}
