package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// repoSettings returns the settings of serve REPO: defaults, environment, flags,
// and a data directory for this repository.
func (p *program) repoSettings(repo string) (*config.Config, error) {
	c, err := config.FromEnviron(p.environ)
	if err != nil {
		return nil, err
	}
	if p.flags.dataDir == "" && p.env()[config.EnvName("data_dir")] == "" {
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

// discover finds the translation files of a repository and adds them to a
// configuration, as one project.
func (e *engine) discover(ctx context.Context, c *config.Config, repo string) error {
	address, err := absolute(repo)
	if err != nil {
		return err
	}
	remote := remote.Repository{URL: address, Credential: credential(c.Credentials, address)}
	mirror, err := e.syncer.Mirror(ctx, ingest.Branch{Key: ingest.BranchKey(address, ""), Remote: remote})
	if err != nil {
		return err
	}
	d, _, err := layouts(ctx, mirror, e.languages, address)
	if err != nil {
		return err
	}
	project := discoveredProject(address, d.Sets)
	for i := range project.Components {
		project.Components[i].History = config.History{Mode: config.HistoryNone}
	}
	return c.Add(project)
}
