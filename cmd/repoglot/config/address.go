package config

import (
	"log/slog"

	"github.com/repoglot/repoglot/gitsource/repourl"
)

// Address is the address of a repository or a database. It may have credentials:
// printing leaves them out, Raw does not.
type Address string

func (a *Address) parse(text string) error {
	*a = Address(text)
	return nil
}

// Raw returns the address as written in the file, credentials included. It is for
// connecting, never for printing.
func (a Address) Raw() string { return string(a) }

// String returns the address without its credentials.
func (a Address) String() string { return repourl.Redact(string(a)) }

// GoString returns the same as String, so that %#v prints no credentials.
func (a Address) GoString() string { return a.String() }

// LogValue returns the same as String.
func (a Address) LogValue() slog.Value { return slog.StringValue(a.String()) }
