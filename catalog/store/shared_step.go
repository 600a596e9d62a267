package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// oldUnit is a unit as it was before a step.
type oldUnit struct {
	identified
	source   int64 // its source unit
	language string
	state    catalog.State
	live     bool
}

// recordOld records what units of counted components are before they are written,
// those of a translation or those of a list.
func (tx *StepTx) recordOld(ctx context.Context, where string, args []any) error {
	return tx.s.Query(ctx, `SELECT u.id, u.source_id, u.id_hash, u.id_key, u.state, t.language, u.removed = 0 AND t.removed = 0
		FROM units u JOIN translations t ON t.id = u.translation_id WHERE `+where, args, func(scan sqldb.Scan) error {
		var u oldUnit
		var state int64
		err := scan(&u.unit, &u.source, &u.identity.Hash, &u.identity.Key, &state, &u.language, &u.live)
		u.state = catalog.State(state)
		tx.record(&u)
		return err
	})
}

// record keeps the first state of a unit.
func (tx *StepTx) record(u *oldUnit) {
	m := tx.convoy[u.unit/catalog.UnitsPerComponent]
	if m == nil || m.counted == notCounted {
		return
	}
	if tx.old == nil {
		tx.old = map[int64]map[int64]oldUnit{}
	}
	if tx.old[m.project] == nil {
		tx.old[m.project] = map[int64]oldUnit{}
	}
	if _, known := tx.old[m.project][u.unit]; !known {
		tx.old[m.project][u.unit] = *u
	}
}

// recordOldUnits is recordOld for units by their ids.
func (tx *StepTx) recordOldUnits(ctx context.Context, ids []int64) error {
	if len(ids) == 0 || !tx.counts(ids[0]/catalog.UnitsPerComponent) {
		return nil
	}
	return sqldb.Chunks(ids, func(chunk []any) error { return tx.recordOld(ctx, `u.id IN `+sqldb.List(1, len(chunk)), chunk) })
}

// KnowStates tells what the step has stored of new translations, so that it is not
// read again.
func (tx *StepTx) KnowStates(states KnownStates) { tx.states = states }

// counts reports whether a component is counted since before the step.
func (tx *StepTx) counts(component int64) bool {
	m := tx.convoy[component]
	return m != nil && m.counted != notCounted
}

// countShared keeps the counts of shared strings: of what the step wrote in
// components that are counted, and of components that count from now on.
func (tx *StepTx) countShared(ctx context.Context) error {
	for _, project := range sqldb.SortedKeys(tx.old) {
		c := newSharedCount(tx.s, project)
		if err := c.step(ctx, tx.old[project]); err != nil {
			return err
		}
		if err := c.finish(ctx); err != nil {
			return err
		}
	}
	var imported []int64
	for _, id := range tx.info.Components {
		if !tx.info.Partial && !tx.counts(id) {
			imported = append(imported, id)
		}
	}
	return sqldb.Chunks(imported, func(chunk []any) error {
		return settleCounted(ctx, tx.s, tx.states, `c.id IN `+sqldb.List(1, len(chunk)), chunk...)
	})
}

// step counts what became of units.
func (c *sharedCount) step(ctx context.Context, old map[int64]oldUnit) error {
	units := make([]oldUnit, 0, len(old))
	for _, u := range old {
		units = append(units, u)
	}
	slices.SortFunc(units, func(a, b oldUnit) int {
		return cmp.Or(a.identity.Compare(b.identity), cmp.Compare(a.unit, b.unit))
	})
	for len(units) > 0 {
		end := 0
		for strings := 0; end < len(units); end++ {
			if end == 0 || units[end].identity != units[end-1].identity {
				strings++
			}
			if strings > sharedPage {
				break
			}
		}
		if err := c.stepPage(ctx, units[:end]); err != nil {
			return err
		}
		units = units[end:]
	}
	return nil
}

// stepPage counts what became of all written units of at most sharedPage strings.
func (c *sharedCount) stepPage(ctx context.Context, units []oldUnit) error {
	var examples, sources []int64 // one unit of each string; source units
	for i := range units {
		if i == 0 || units[i].identity != units[i-1].identity {
			examples = append(examples, units[i].unit)
		}
		if units[i].unit == units[i].source {
			sources = append(sources, units[i].unit)
		}
	}
	before, err := c.extents(ctx, examples)
	if err != nil {
		return err
	}
	p := sharedChange{before: before, after: before}
	moved, err := c.moveOccurrences(ctx, units, sources)
	if err != nil {
		return err
	}
	if moved {
		if p.after, err = c.extents(ctx, examples); err != nil {
			return err
		}
	}
	if err := c.changedUnits(ctx, units, &p); err != nil {
		return err
	}
	return c.apply(ctx, &p)
}

// moveOccurrences stores which source strings appeared or went.
func (c *sharedCount) moveOccurrences(ctx context.Context, units []oldUnit, sources []int64) (moved bool, err error) {
	live := map[int64]bool{}
	err = sqldb.Chunks(sources, func(chunk []any) error {
		return c.s.Query(ctx, `SELECT u.id FROM units u JOIN translations t ON t.id = u.translation_id
			WHERE u.removed = 0 AND t.removed = 0 AND u.id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			var id int64
			err := scan(&id)
			live[id] = true
			return err
		})
	})
	if err != nil {
		return false, err
	}
	var added, gone []identified
	for i := range units {
		u := &units[i]
		switch {
		case u.unit != u.source || u.live == live[u.unit]:
		case u.live:
			gone = append(gone, u.identified)
		default:
			added = append(added, u.identified)
		}
	}
	if err := c.putOccurrences(ctx, gone, false); err != nil {
		return false, err
	}
	return len(added)+len(gone) > 0, c.putOccurrences(ctx, added, true)
}

// changedUnits adds the units of shared strings to a change, as they were and as
// they are.
func (c *sharedCount) changedUnits(ctx context.Context, units []oldUnit, p *sharedChange) error {
	old := map[int64]*oldUnit{}
	var ids []int64
	for i := range units {
		if p.stays(units[i].identity) {
			old[units[i].unit] = &units[i]
			ids = append(ids, units[i].unit)
		}
	}
	return sqldb.Chunks(ids, func(chunk []any) error {
		return c.s.Query(ctx, `SELECT u.id, u.state, t.language, u.removed = 0 AND t.removed = 0, COALESCE(s.words, 0), COALESCE(s.chars, 0), p.counted
			FROM units u JOIN translations t ON t.id = u.translation_id JOIN components p ON p.id = t.component_id LEFT JOIN units s ON s.id = u.source_id
			WHERE u.id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			var id, state, counted int64
			var live bool
			var now sharedUnits
			if err := scan(&id, &state, &now.language, &live, &now.words, &now.chars, &counted); err != nil {
				return err
			}
			before := old[id]
			now.identity, now.state, now.private, now.n = before.identity, catalog.State(state), counted == countedPrivate, 1
			if before.live {
				then := now
				then.language, then.state, then.n = before.language, before.state, -1
				p.units = append(p.units, then)
			}
			if live {
				p.units = append(p.units, now)
			}
			return nil
		})
	})
}

// settleCounted compares how components count with how they should, and counts
// where it differs: components after their first import, those that became active
// or inactive, public or private. States that are known are not read.
func settleCounted(ctx context.Context, s *sqldb.Session, known KnownStates, where string, args ...any) error {
	changed, err := countedOtherwise(ctx, s, where, args...)
	if err != nil {
		return err
	}
	var count *sharedCount
	for i, c := range changed {
		if count == nil || count.project != c.project {
			count = newSharedCount(s, c.project)
			count.known = known
		}
		if err := count.settle(ctx, c.id, c.counted, c.want); err != nil {
			return fmt.Errorf("count the strings of component %d: %w", c.id, err)
		}
		if i+1 < len(changed) && changed[i+1].project == c.project {
			continue
		}
		if err := count.finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

// otherwiseCounted is a component that counts as counted and should as want.
type otherwiseCounted struct{ id, project, counted, want int64 }

// countedOtherwise returns the components, of those that where selects, that do
// not count as they should, by project.
func countedOtherwise(ctx context.Context, s *sqldb.Session, where string, args ...any) (changed []otherwiseCounted, err error) {
	return changed, s.Query(ctx, `SELECT c.id, c.project_id, c.counted, c.active = 1 AND c.imported = 1, c.settings, p.slug, p.settings
		FROM components c JOIN projects p ON p.id = c.project_id WHERE `+where+` ORDER BY c.project_id, c.id`, args, func(scan sqldb.Scan) error {
		var c otherwiseCounted
		var served bool
		var project catalog.Project
		var settings, projectSettings []byte
		err := scan(&c.id, &c.project, &c.counted, &served, &settings, &project.Slug, &projectSettings)
		if err != nil {
			return err
		}
		if c.want, err = countedAs(s, c.id, c.project, served, settings, projectSettings); c.want != c.counted {
			changed = append(changed, c)
		}
		return err
	})
}

// countedAs returns how a component should count.
func countedAs(s *sqldb.Session, component, project int64, served bool, settings, projectSettings []byte) (int64, error) {
	if !served {
		return notCounted, nil
	}
	of, err := s.DB.Components.Decode(component, settings)
	if err != nil {
		return 0, err
	}
	var p catalog.Project
	if p.Settings, err = s.DB.Projects.Decode(project, projectSettings); err != nil {
		return 0, err
	}
	if of.Private(&p) {
		return countedPrivate, nil
	}
	return countedPublic, nil
}

// settle changes how a component counts.
func (c *sharedCount) settle(ctx context.Context, component, old, want int64) error {
	if old != notCounted {
		if err := c.component(ctx, component, false); err != nil {
			return err
		}
	}
	delete(c.components, component)
	if err := c.s.Do(ctx, `UPDATE components SET counted = $1 WHERE id = $2`, want, component); err != nil {
		return err
	}
	if want != notCounted {
		return c.component(ctx, component, true)
	}
	return nil
}
