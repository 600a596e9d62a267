package store

import (
	"context"
	"slices"
)

// deactivate makes inactive what the configuration does not name.
func (c *configurer) deactivate(ctx context.Context, templates []TemplateKey) error {
	kept := make([]int64, 0, len(c.projects))
	for _, id := range c.projects {
		kept = append(kept, id)
	}
	type row struct {
		id, project      int64
		template, ofSlug string
	}
	var gone []row
	err := c.s.query(ctx, `SELECT c.id, c.project_id, c.template, p.slug FROM components c JOIN projects p ON p.id = c.project_id
		WHERE c.active = 1 ORDER BY c.id`, nil, func(scan scan) error {
		var r row
		if err := scan(&r.id, &r.project, &r.template, &r.ofSlug); err != nil {
			return err
		}
		stays := c.named[r.id] || r.template != "" && slices.Contains(kept, r.project) && slices.Contains(templates, TemplateKey{r.ofSlug, r.template})
		if !stays {
			gone = append(gone, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range gone {
		g, err := c.takeGeneration(ctx)
		if err != nil {
			return err
		}
		if _, err := c.s.exec(ctx, `UPDATE components SET active = 0, settings_generation = $1, generation = $1 WHERE id = $2`, g, r.id); err != nil {
			return err
		}
		if err := touchProject(ctx, c.s, r.project, g); err != nil {
			return err
		}
		if err := c.resetChecks(ctx, r.project); err != nil {
			return err
		}
	}
	return c.deactivateProjects(ctx, kept)
}

func (c *configurer) deactivateProjects(ctx context.Context, kept []int64) error {
	var gone []int64
	err := c.s.query(ctx, `SELECT id FROM projects WHERE active = 1 ORDER BY id`, nil, func(scan scan) error {
		var id int64
		err := scan(&id)
		if !slices.Contains(kept, id) {
			gone = append(gone, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range gone {
		g, err := c.takeGeneration(ctx)
		if err != nil {
			return err
		}
		if _, err := c.s.exec(ctx, `UPDATE projects SET active = 0, settings_generation = $1, generation = $1 WHERE id = $2`, g, id); err != nil {
			return err
		}
	}
	return nil
}
