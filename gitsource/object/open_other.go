//go:build !unix

package object

// nonBlocking is nothing where a folder holds no pipes.
const nonBlocking = 0
