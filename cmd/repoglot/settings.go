package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// defaultConfig is read if no configuration is named.
const defaultConfig = "repoglot.yaml"

// load reads the configuration that the flags name, or ./repoglot.yaml.
func (p *program) load() (*config.Config, error) {
	path := p.flags.config
	if path == "" {
		path = defaultConfig
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, usageError{errors.New("there is no repoglot.yaml here: name a configuration with --config FILE, or a repository with repoglot serve REPO")}
		}
	}
	c, err := config.Load(path, p.environ)
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

// warn logs the warnings of the configuration.
func warn(log *slog.Logger, c *config.Config) {
	for _, w := range c.Warnings() {
		log.Warn("configuration: " + w)
	}
	if len(c.Projects) == 0 {
		log.Warn("configuration: nothing is served; add projects and components")
	}
}
