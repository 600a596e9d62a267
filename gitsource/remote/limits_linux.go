package remote

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// maxData bounds the memory that git takes for itself; packs that it maps do not
	// count. Indexing 10 million objects takes 2 GiB.
	maxData = 4 << 30
	// maxCPU bounds its processor time, in seconds.
	maxCPU = 3600
	// victim makes the kernel end git before this process when memory runs out
	// (proc_pid_oom_score_adj(5)).
	victim = "500"
)

// limit sets limits of a program that has just begun, and so of what it begins. An error means
// that it ended, or that the system forbids it: the limits of the service are left then.
func limit(pid int, files int64) {
	for resource, most := range map[int]uint64{
		unix.RLIMIT_DATA: maxData, unix.RLIMIT_CPU: maxCPU, unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: uint64(files),
	} {
		if resource == unix.RLIMIT_FSIZE && files <= 0 {
			continue
		}
		var now unix.Rlimit
		if unix.Prlimit(pid, resource, nil, &now) != nil || now.Cur <= most {
			continue
		}
		_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil)
	}
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte(victim), 0)
}
