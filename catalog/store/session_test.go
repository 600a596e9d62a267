package store

import (
	"context"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// TestNothingAfterAFailedWrite: what a transaction writes after a write that failed is not written.
func TestNothingAfterAFailedWrite(t *testing.T) {
	t.Parallel()
	db, ctx := openWith(t, "app"), t.Context()
	err := db.pools.Writer.Transact(ctx, func(s *sqldb.Session) error {
		_, bad := s.Exec(ctx, `INSERT INTO nothing (x) VALUES (1)`)
		if _, err := s.Exec(ctx, `DELETE FROM tokens`); bad == nil || err != bad || s.Do(ctx, `DELETE FROM tokens`) != bad {
			t.Errorf("after %v: %v", bad, err)
		}
		return bad
	})
	if next := db.pools.Writer.Transact(ctx, func(s *sqldb.Session) error { return s.Do(ctx, `DELETE FROM tokens`) }); err == nil || next != nil {
		t.Errorf("the next transaction: %v after %v", next, err)
	}
}

// TestSettingsCache: answers show the configuration, even after a configuration
// was rolled back and another one takes its generation.
func TestSettingsCache(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app")
	name := func() string {
		var name string
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			c, err := s.Component(ctx, "demo", "app")
			name = c.Settings.Name + " of " + c.Project.Settings.Name
			return err
		})
		return name
	}
	put := func(project, component string, more ...ComponentSpec) error {
		c := spec("demo", "app")
		c.Settings.Name = component
		p := projectsNamed("demo")
		p[0].Settings.Name = project
		return db.Configure(context.Background(), p, append([]ComponentSpec{c}, more...), nil)
	}
	if got := name(); got != "app of demo" {
		t.Error(got)
	}
	if err := put("Demo", "App"); err != nil || name() != "App of Demo" {
		t.Error(err, name())
	}
	discovered := spec("demo", "app") // fails after the settings were read within the transaction
	discovered.Template = "x-{component}"
	if _, err := db.AddComponents(context.Background(), []ComponentSpec{spec("demo", "new"), discovered}); err == nil {
		t.Fatal("a taken slug was accepted")
	}
	if err := put("bad", "bad", spec("demo", "app")); err == nil {
		t.Fatal("a component named twice was accepted")
	}
	if got := name(); got != "App of Demo" {
		t.Error(got)
	}
	if err := put("Third", "3"); err != nil || name() != "3 of Third" {
		t.Error(err, name())
	}
	var changed catalog.ComponentSettings
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		all, err := s.Components(ctx, "")
		if err == nil {
			changed = all[0].Settings
		}
		return err
	})
	if changed.Name != "3" {
		t.Errorf("in the list: %q", changed.Name)
	}
}
