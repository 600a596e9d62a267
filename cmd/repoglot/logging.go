package main

import (
	"fmt"
	"log/slog"
)

// logger makes a logger to stderr, with the level and format of the flags; level is
// the default.
func (p *program) logger(level slog.Level) (*slog.Logger, error) {
	if p.flags.logLevel == "" {
		p.flags.logLevel = level.String()
	}
	if err := level.UnmarshalText([]byte(p.flags.logLevel)); err != nil {
		return nil, usageError{fmt.Errorf("--log-level %q: write debug, info, warn or error", p.flags.logLevel)}
	}
	options := &slog.HandlerOptions{Level: level}
	switch p.flags.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(p.stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(p.stderr, options)), nil
	default:
		return nil, usageError{fmt.Errorf("--log-format %q: write text or json", p.flags.logFormat)}
	}
}
