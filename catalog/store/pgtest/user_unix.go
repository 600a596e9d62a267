//go:build unix

package pgtest

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// asUser has a command run by another user if this one is root, and gives it the
// folder.
func asUser(cmd *exec.Cmd, dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := serverUser()
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, Setpgid: true}
	return os.Chown(dir, uid, gid)
}
