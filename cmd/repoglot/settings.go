package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/cmd/repoglot/server"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// defaultConfig is read if no configuration is named.
const defaultConfig = "repoglot.yaml"

// load reads the configuration that the flags name, or ./repoglot.yaml; pushes is that of
// [config.Load], and remedy says what to do without one.
func (p *program) load(pushes bool, remedy string) (*config.Config, error) {
	path := p.flags.config
	if path == "" {
		path = defaultConfig
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, usageError{fmt.Errorf("there is no %s here: %s", defaultConfig, remedy)}
		}
	}
	c, err := config.Load(path, p.environ, pushes)
	if err != nil {
		return nil, err
	}
	return c, p.override(c)
}

// override applies the flags, which win over the configuration.
func (p *program) override(c *config.Config) error {
	if p.flags.dataDir != "" {
		dir, err := filepath.Abs(p.flags.dataDir)
		if err != nil {
			return usageError{fmt.Errorf("--data-dir %s: %w", p.flags.dataDir, err)}
		}
		c.DataDir = config.Path(dir)
	}
	if p.flags.listen != "" {
		if err := config.CheckListen(p.flags.listen); err != nil {
			return usageError{fmt.Errorf("--listen %w", err)}
		}
		c.Listen = p.flags.listen
	}
	return nil
}

func warn(log *slog.Logger, c *config.Config) {
	for _, w := range c.Warnings() {
		log.Warn("configuration: " + w)
	}
	if len(c.Projects) == 0 {
		log.Warn("configuration: nothing is served; add projects and components")
	}
}

// logger makes a logger to stderr, of level and format of the flags; level is the default.
func (p *program) logger(level slog.Level) (*slog.Logger, error) {
	p.flags.logLevel = cmp.Or(p.flags.logLevel, level.String())
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

// repoSettings returns the settings of serve REPO: defaults, environment, flags,
// and a data directory for this repository.
func (p *program) repoSettings(repo string) (*config.Config, error) {
	c, err := config.FromEnviron(p.environ)
	if err != nil {
		return nil, err
	}
	if p.flags.dataDir == "" && config.Environ(p.environ)[config.EnvName("data_dir")] == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, usageError{fmt.Errorf("there is no cache folder (%w): name a folder with --data-dir", err)}
		}
		address, err := absolute(repo)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(repourl.Redact(address)))
		c.DataDir = config.Path(filepath.Join(cache, "repoglot", slug(repoName(address))+"-"+hex.EncodeToString(sum[:4])))
	}
	return c, p.override(c)
}

// absolute returns the address of a repository; a local path becomes absolute.
func absolute(repo string) (string, error) {
	if local, ok := repourl.IsLocal(repo); !ok || local != repo {
		return repo, nil
	}
	abs, err := filepath.Abs(repo)
	if err != nil {
		return "", usageError{fmt.Errorf("finding %s: %w", repo, err)}
	}
	return abs, nil
}

// addDiscovered adds the translation files of a repository to a configuration, as one project.
func addDiscovered(ctx context.Context, e *server.Engine, c *config.Config, repo string) error {
	address, err := absolute(repo)
	if err != nil {
		return err
	}
	mirror, err := e.Mirror(ctx, c, address)
	if err != nil {
		return err
	}
	d, _, err := layouts(ctx, mirror, e.Languages(), address)
	if err != nil {
		return err
	}
	project := discoveredProject(address, d.Sets)
	return c.Add(project)
}

// storedSettings returns the settings of commands that work on the database. With
// --data-dir they need no configuration, since serve REPO has none, and no secrets of
// pushes, which only the server's environment may have.
func (p *program) storedSettings() (*config.Config, error) {
	if p.flags.config == "" && p.flags.dataDir != "" {
		dir, err := filepath.Abs(p.flags.dataDir)
		return &config.Config{DataDir: config.Path(dir)}, err
	}
	return p.load(false, "name a configuration with --config FILE, or a data directory with --data-dir FOLDER")
}

// stored is a command on the database of the settings.
func (p *program) stored(use, short string, args cobra.PositionalArgs, fn func(ctx context.Context, c *config.Config, args []string) error) *cobra.Command {
	cmd := action(use, short, args, func(ctx context.Context, args []string) error {
		c, err := p.storedSettings()
		if err != nil {
			return err
		}
		return fn(ctx, c, args)
	})
	p.dataFlags(cmd.Flags())
	return cmd
}

// locked calls a function while no server can be running.
func locked(c *config.Config, fn func() error) error {
	unlock, err := store.Lock(string(c.DataDir))
	if err != nil {
		return err
	}
	return errors.Join(fn(), unlock())
}

func withDatabase(ctx context.Context, c *config.Config, o store.Options, fn func(*store.DB) error) error {
	db, err := store.Open(ctx, c.DatabaseAddress(), o)
	if err != nil {
		return err
	}
	return errors.Join(fn(db), db.Close())
}
