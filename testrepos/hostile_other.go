//go:build !unix

package testrepos

// makePipe does nothing where there are no named pipes.
func makePipe(string) error { return nil }
