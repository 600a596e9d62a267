package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/repoglot/repoglot/testrepos"
)

// The limits of a project of many components.
const (
	limitOneComponent = 0.7 // rate against one component with as many distinct strings
	limitProjectRSS   = 350 // MiB
	sharedStrings     = 40  // per cent
	projectRounds     = 2
)

// projectSize is the size of the repositories of -only project.
type projectSize struct {
	components, languages, strings, replayed, templates, edits int
}

func (s *projectSize) flags(flags *flag.FlagSet) {
	flags.IntVar(&s.components, "components", 100, "components of -only project")
	flags.IntVar(&s.languages, "languages", 70, "languages of each component of -only project")
	flags.IntVar(&s.strings, "strings", 160, "strings of each component of -only project, for the import")
	flags.IntVar(&s.replayed, "replayed", 60, "strings of each component of -only project, for the replay")
	flags.IntVar(&s.templates, "templates", 2000, "commits of templates of -only project")
	flags.IntVar(&s.edits, "edits", 2000, "commits of translators of -only project")
}

// projects measures projects of many components against one component that has as
// many distinct strings, in turn, and one large file.
func (b *bench) projects(ctx context.Context) error {
	s := b.project
	many := testrepos.Project{Components: s.components, Languages: s.languages, Shared: sharedStrings}
	imported, replayed := many, many
	imported.Strings = s.strings
	replayed.Strings, replayed.Templates, replayed.Edits = s.replayed, s.templates, s.edits
	small := testrepos.Project{ // as collections of add-ons are
		Components: s.components * 188 / 100, Languages: max(1, s.languages*18/70), Strings: 30, Shared: sharedStrings,
		Templates: s.templates, Edits: s.edits * 135 / 100,
	}
	for _, shape := range []struct {
		name    string
		project testrepos.Project
		history []string
	}{
		{"import", imported, []string{"none"}},
		{"replay", replayed, []string{"full"}},
		{"small", small, []string{"none", "full"}},
	} {
		pair, err := b.projectPair(ctx, shape.name, shape.project)
		if err != nil {
			return fmt.Errorf("%s: %w", shape.name, err)
		}
		for _, history := range shape.history {
			if err := b.comparePair(ctx, pair, history); err != nil {
				return fmt.Errorf("%s: %w", shape.name, err)
			}
		}
		for _, side := range pair {
			if err := os.RemoveAll(side.repo.Dir); err != nil {
				return err
			}
		}
	}
	return b.oneFile(ctx)
}

// projectSide is a project, or the one component that it is compared with.
type projectSide struct {
	name    string
	project testrepos.Project
	repo    madeProject
}

// madeProject is a repository that a child made.
type madeProject struct {
	Dir               string
	Commits, Distinct int
}

// makeProject makes a project in a child: a process that is started counts the most
// memory that its parent ever had as its own.
func (b *bench) makeProject(ctx context.Context, dir string, p testrepos.Project) (made madeProject, err error) {
	shape, err := json.Marshal(p)
	if err != nil {
		return made, err
	}
	child, err := childCommand(ctx, "project", dir, string(shape), "")
	if err != nil {
		return made, err
	}
	out, err := child.Output()
	if err != nil {
		return made, fmt.Errorf("make %s: %w", dir, err)
	}
	return made, json.Unmarshal(out, &made)
}

// makeProjectHere is makeProject in the child.
func makeProjectHere(dir, shape string, out io.Writer) error {
	var p testrepos.Project
	if err := json.Unmarshal([]byte(shape), &p); err != nil {
		return err
	}
	repo, err := testrepos.CreateProject(dir, p)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(madeProject{repo.Dir, len(repo.Commits), repo.Distinct})
}

// projectPair makes a project and one component with its distinct strings. The one
// component has as many times fewer commits as it has more strings, and each commit
// changes as many more, so that both histories have the same bytes and changes.
func (b *bench) projectPair(ctx context.Context, name string, p testrepos.Project) (pair [2]projectSide, err error) {
	pair[0] = projectSide{name: name + "-many", project: p}
	if pair[0].repo, err = b.makeProject(ctx, filepath.Join(b.dir, pair[0].name+".git"), p); err != nil {
		return pair, err
	}
	one, distinct := p, pair[0].repo.Distinct
	one.Components, one.Strings = 1, distinct
	one.Templates, one.Edits = p.Templates*p.Strings/distinct, p.Edits*p.Strings/distinct
	pair[1] = projectSide{name: name + "-one", project: one}
	pair[1].repo, err = b.makeProject(ctx, filepath.Join(b.dir, pair[1].name+".git"), one)
	return pair, err
}

// comparePair imports both in turn and prints their rows.
func (b *bench) comparePair(ctx context.Context, pair [2]projectSide, history string) error {
	list, what := "/api/units/", "import"
	if history == "full" {
		list, what = "/api/changes/", "replay"
	}
	var configs [2]string
	var best [2]usage
	for i, side := range pair {
		path, err := b.writeComponents(ctx, side.name+"-"+history, side.repo.Dir, history, map[string]string{
			`"{component}"`: "        filemask: \"{component}/*.po\"\n        new_base: \"{component}/messages.pot\"\n",
		})
		if err != nil {
			return err
		}
		configs[i] = path
	}
	for round := range projectRounds {
		for i := range pair {
			u, err := b.importOnce(ctx, configs[i], round > 0)
			if err != nil {
				return err
			}
			best[i] = best[i].best(u)
		}
	}
	var rates, worked [2]float64
	for i, side := range pair {
		n, err := b.countIn(ctx, configs[i], list)
		if err != nil {
			return err
		}
		rates[i], worked[i] = float64(n)/best[i].wall.Seconds(), float64(n)/best[i].cpu.Seconds()
		b.projectRows(fmt.Sprintf("%s: %s, %d", what, side, n), best[i], side.project.Components > 1)
		if err := os.RemoveAll(filepath.Dir(configs[i])); err != nil {
			return err
		}
	}
	b.rate("  rate against one component", "×", rates[0]/rates[1], limitOneComponent)
	b.rate("  the same by processor time", "×", worked[0]/worked[1], limitOneComponent)
	return nil
}

// String says what was imported, such as "100 × 70 × 160 strings".
func (s projectSide) String() string {
	return fmt.Sprintf("%d × %d × %d strings, %d commits", s.project.Components, s.project.Languages, s.project.Strings, s.repo.Commits)
}

func (b *bench) projectRows(what string, u usage, limited bool) {
	b.figure(what, "s", u.wall.Seconds())
	b.figure("  processor time", "s", u.cpu.Seconds())
	if limited {
		b.row("  peak RSS", "MiB", u.rss, limitProjectRSS)
		return
	}
	b.figure("  peak RSS", "MiB", u.rss)
}

// best returns the fastest of two runs and the highest memory of both.
func (u usage) best(other usage) usage {
	if u.wall == 0 {
		return other
	}
	return usage{wall: min(u.wall, other.wall), cpu: min(u.cpu, other.cpu), rss: max(u.rss, other.rss)}
}

// importOnce imports into an empty database; again: there is one, which it removes.
func (b *bench) importOnce(ctx context.Context, config string, again bool) (usage, error) {
	if again {
		if err := removeDatabase(filepath.Join(filepath.Dir(config), "data")); err != nil {
			return usage{}, err
		}
	}
	return b.sync(ctx, config)
}

// countIn starts a server and counts the entries of a list.
func (b *bench) countIn(ctx context.Context, config, list string) (int64, error) {
	s, err := b.serve(ctx, config)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	return s.count(list)
}
