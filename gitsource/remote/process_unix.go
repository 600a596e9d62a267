//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// ownGroup runs a command in a process group of its own, so that cancelling it also
// ends git's children (git-remote-https, ssh).
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
