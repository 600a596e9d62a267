//go:build linux || darwin

package server

import "syscall"

// freeSpace returns the bytes that this user may still write to the disk of a folder.
func freeSpace(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// openFiles is how many files, with connections, this process may have open; 0: unknown.
func openFiles() int64 {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || l.Cur > 1<<30 {
		return 0
	}
	return int64(l.Cur)
}

// limitedMemory is the least memory that a limit of this process (prlimit) allows, or 0.
func limitedMemory() (n int64) {
	for _, resource := range []int{syscall.RLIMIT_AS, syscall.RLIMIT_DATA} {
		var l syscall.Rlimit
		if err := syscall.Getrlimit(resource, &l); err == nil && l.Cur < 1<<50 {
			n = least(n, int64(l.Cur))
		}
	}
	return n
}
