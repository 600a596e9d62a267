//go:build !unix

package pgserver

import "os/exec"

// asUser does nothing.
func asUser(*exec.Cmd, string) error { return nil }
