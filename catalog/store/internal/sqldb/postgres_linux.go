package sqldb

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// boundUnacknowledged ends a connection whose other end has not acknowledged what was
// sent for lockLimit, so that nobody waits for a server that was cut off. The parameter
// tcp_user_timeout of sessions is the same for the server's end.
func boundUnacknowledged(network, _ string, c syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	var failed error
	if err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(lockLimit.Milliseconds()))
	}); err != nil {
		return err
	}
	return failed
}
