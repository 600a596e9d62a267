//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// ownGroup makes cancelling end git's children too (git-remote-https, ssh).
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
