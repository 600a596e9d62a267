package cluster

import (
	"context"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Configuration is a copy of the configuration that a process reads.
type Configuration struct {
	// Fingerprint differs if what is stored of the configuration differs.
	Fingerprint string
	// Revision is its number; 0 if it has none.
	Revision int64
}

// Adopt makes a copy of the configuration known, and returns the one that counts:
// that with the highest revision, and among those the one that was first seen last.
// So a copy that was seen before is not the newest again by a restart, only with a
// higher revision. If it is this one, its branches are the ones that are pulled; new
// ones are due at once.
func (c *Cluster) Adopt(ctx context.Context, copied Configuration, mirrors []Mirror) (newest Configuration, err error) {
	err = c.write(ctx, func(s *sqldb.Session) error {
		err := s.Do(ctx, `INSERT INTO configurations (fingerprint, revision, n, seen)
			SELECT $1, $2, COALESCE(MAX(n), 0) + 1, `+Now+` FROM configurations ON CONFLICT (fingerprint) DO NOTHING`, copied.Fingerprint, copied.Revision)
		if err != nil {
			return err
		}
		if newest, err = newestConfiguration(ctx, s); err != nil || newest != copied {
			return err
		}
		return putMirrors(ctx, s, mirrors)
	})
	return newest, c.db.Fail(ctx, "compare configurations", err)
}

// newestConfiguration is the copy that counts.
func newestConfiguration(ctx context.Context, s *sqldb.Session) (c Configuration, err error) {
	_, err = s.First(ctx, `SELECT fingerprint, revision FROM configurations ORDER BY revision DESC, n DESC LIMIT 1`, nil, &c.Fingerprint, &c.Revision)
	return c, err
}

// putMirrors stores the branches of the configuration. A lease of one that is gone
// stays until it is given back.
func putMirrors(ctx context.Context, s *sqldb.Session, mirrors []Mirror) error {
	stored := map[string]Mirror{}
	err := s.Query(ctx, `SELECT branch, project, host FROM mirrors WHERE active = 1`, nil, func(scan sqldb.Scan) error {
		var m Mirror
		err := scan(&m.Branch, &m.Project, &m.Host)
		stored[m.Branch] = m
		return err
	})
	if err != nil {
		return err
	}
	for _, m := range mirrors {
		old, known := stored[m.Branch]
		delete(stored, m.Branch)
		if known && old == m {
			continue
		}
		if err := s.Do(ctx, `INSERT INTO mirrors (branch, project, host, active, due) VALUES ($1, $2, $3, 1, `+Now+`)
			ON CONFLICT (branch) DO UPDATE SET project = excluded.project, host = excluded.host, active = 1,
			due = CASE WHEN mirrors.active = 1 THEN mirrors.due ELSE excluded.due END`, m.Branch, m.Project, m.Host); err != nil {
			return err
		}
	}
	for _, branch := range slices.Sorted(maps.Keys(stored)) {
		if err := s.Do(ctx, `UPDATE mirrors SET active = 0 WHERE branch = $1`, branch); err != nil {
			return err
		}
	}
	return nil
}
