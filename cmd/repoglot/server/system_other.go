//go:build !linux && !darwin

package server

import "errors"

// freeSpace is not known on this system.
func freeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }

// openFiles is not known on this system.
func openFiles() int64 { return 0 }

// limitedMemory is not known on this system.
func limitedMemory() int64 { return 0 }
