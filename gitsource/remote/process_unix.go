//go:build unix

package remote

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup runs a command in a process group of its own, so that cancelling it also
// ends git's children (git-remote-https, ssh).
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// ownerOf returns the user id of a file's owner.
func ownerOf(path string) (uid int, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
