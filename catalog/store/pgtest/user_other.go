//go:build !unix

package pgtest

import "os/exec"

// asUser does nothing.
func asUser(*exec.Cmd, string) error { return nil }
