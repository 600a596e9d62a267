package config

import (
	"log/slog"

	"github.com/repoglot/repoglot/gitsource/remote"
)

// Address is the address of a repository or a database. It may hold
// credentials, so printing it leaves them out; Raw does not.
type Address string

func (a *Address) parse(text string) error {
	*a = Address(text)
	return nil
}

// Raw returns the address as it stands in the file, credentials included. It
// is for connecting, never for printing.
func (a Address) Raw() string { return string(a) }

// String returns the address without its credentials (decision 28).
func (a Address) String() string { return remote.Redact(string(a)) }

// GoString returns what String does, so that %#v does not tell more.
func (a Address) GoString() string { return a.String() }

// LogValue returns what String does.
func (a Address) LogValue() slog.Value { return slog.StringValue(a.String()) }
