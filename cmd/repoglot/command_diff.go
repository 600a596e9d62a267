package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/term"

	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/cmd/repoglot/check"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse/diff"
)

type diffFlags struct {
	base, frozen, format, color, config, sourceLanguage, checkFlags string
	direct                                                          bool
	comment                                                         int
}

func (p *program) diffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff {OLD NEW | --base REF [REF] | --frozen REF [REF]}",
		Short: "Compare PO files by meaning",
		Args: func(cmd *cobra.Command, args []string) error {
			switch inGit := f.base+f.frozen != ""; {
			case f.base != "" && f.frozen != "":
				return errors.New("--base compares, --frozen looks for new source strings: give one of them")
			case inGit && len(args) > 1, !inGit && len(args) != 2:
				return fmt.Errorf("%s takes two files or folders, or --base REF with up to one other commit, not %d arguments", cmd.CommandPath(), len(args))
			case cmd.Flags().Changed("comment") && (f.comment < 1 || f.base == ""):
				return errors.New("--comment is for a request: give its number, and --base")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.diff(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "compare the PO files of the git repository here: from the commit at which the history left `REF`, to the other REF or the work tree")
	flags.BoolVar(&f.direct, "direct", false, "compare with the REF of --base itself, as it is now")
	flags.StringVar(&f.frozen, "frozen", "", "string freeze: list source strings that are new or reworded since `REF`, and who brought them")
	flags.StringVar(&f.format, "format", "text", "`FORMAT` of the report: text, json, markdown or html")
	flags.StringVar(&f.color, "color", "auto", "`WHEN` text has colours: auto, always or never")
	flags.IntVar(&f.comment, "comment", 0, "keep a comment at the request of a `NUMBER`, in a job of GitHub, GitLab, Gitea or Forgejo, with the token in FORGE_TOKEN, or that of the job; the exit status is 0")
	flags.StringVar(&f.config, "config", "", "configuration `FILE` with the filemasks, instead of those that discover finds")
	flags.StringVar(&f.sourceLanguage, "source-language", "en", "`CODE` of the language of the msgids, for the quality checks")
	flags.StringVar(&f.checkFlags, "check-flags", "", "`FLAGS` for all strings, as a component's check_flags")
	return cmd
}

// errDiffers is exit status 1; the report says what differs.
var errDiffers = commandError{errors.New("")}

func (p *program) diff(ctx context.Context, args []string, f diffFlags) error {
	out, isFile := p.stdout.(*os.File)
	color := f.color == "always" || f.color == "auto" && isFile && term.IsTerminal(int(out.Fd())) && os.Getenv("NO_COLOR") == ""
	write := map[string]func(io.Writer, *diff.Report) error{
		"json": diff.WriteJSON, "markdown": diff.WriteMarkdown, "html": diff.WriteHTML,
		"text": func(w io.Writer, r *diff.Report) error { return diff.WriteText(w, r, color) },
	}[f.format]
	if write == nil || !slices.Contains([]string{"auto", "always", "never"}, f.color) {
		return fmt.Errorf("--format %q is text, json, markdown or html, --color %q is auto, always or never", f.format, f.color)
	}
	p.memory().Limit()
	d := &differ{diffFlags: f, program: p}
	var err error
	if d.languages, err = lang.New(); err != nil {
		return err
	}
	r, err := d.run(ctx, args)
	if err == nil {
		err = write(p.stdout, r)
	}
	switch {
	case err != nil:
		return err
	case f.comment > 0:
		return p.comment(ctx, f.comment, r)
	case r.Failed():
		return errors.New("not all files can be read")
	case r.Differs():
		return errDiffers
	}
	return nil
}

// comment keeps the comment at a request, by the variables that jobs have.
func (p *program) comment(ctx context.Context, number int, r *diff.Report) error {
	env := config.Environ(p.environ)
	o := forge.Options{Kind: "github", URL: env["GITHUB_SERVER_URL"], Repository: env["GITHUB_REPOSITORY"], Token: cmp.Or(env["FORGE_TOKEN"], env["GITHUB_TOKEN"])}
	switch {
	case env["GITLAB_CI"] != "":
		o.Kind, o.URL, o.Repository = "gitlab", env["CI_SERVER_URL"], cmp.Or(env["CI_MERGE_REQUEST_PROJECT_PATH"], env["CI_PROJECT_PATH"])
	case env["FORGEJO_ACTIONS"] != "":
		o.Kind = "forgejo"
	case env["GITEA_ACTIONS"] != "":
		o.Kind = "gitea"
	}
	if o.Token == "" {
		return errors.New("--comment: set FORGE_TOKEN to a token that may write comments at requests")
	}
	var text bytes.Buffer
	if err := diff.WriteMarkdown(&text, r); err != nil {
		return err
	}
	done, err := forge.KeepComment(ctx, o, number, "<!-- repoglot diff -->", text.String(), !r.Differs())
	if err == nil && done != "" {
		fmt.Fprintf(p.stderr, "repoglot: the comment at request %d was %s\n", number, done)
	}
	return err
}

// differ compares two states of files.
type differ struct {
	diffFlags
	*program
	languages *lang.Table
	tree      *gitsource.WorkTree // nil for files and folders
}

// state is the files of one side.
type state struct {
	name string
	ids  map[string]object.Hash // of the paths; zero: not known
	read func(path string) ([]byte, error)
}

func (d *differ) run(ctx context.Context, args []string) (_ *diff.Report, err error) {
	if d.base+d.frozen == "" {
		return d.paths(ctx, args)
	}
	if d.tree, err = gitsource.OpenWorkTree(ctx, "."); err != nil {
		return nil, err
	}
	defer d.tree.Close()
	head, err := d.tree.Resolve(ctx, append(args, "HEAD")[0])
	if err != nil {
		return nil, err
	}
	base, err := d.tree.Resolve(ctx, d.base+d.frozen)
	if err == nil && d.base != "" && !d.direct {
		var left object.Hash
		if left, err = d.tree.MergeBase(ctx, base, head); !left.IsZero() && left != base {
			fmt.Fprintf(d.stderr, "repoglot: compared with %.12s, where the history left %s\n", left, d.base)
			base = left
		}
	}
	if err != nil {
		return nil, err
	}
	old, err := d.commit(ctx, base)
	if err != nil {
		return nil, err
	}
	new, err := d.commit(ctx, head)
	if err == nil && len(args) == 0 {
		var paths []string
		paths, err = d.tree.Tracked(ctx, head, isPO)
		new = folder(d.tree.Root, "", paths)
	}
	if err != nil {
		return nil, err
	}
	selected, err := d.selected(old, new)
	switch {
	case err != nil:
		return nil, err
	case d.frozen != "":
		return d.brought(ctx, old, new, selected, base, head)
	}
	return d.compare(ctx, old, new, selected)
}

// isPO selects PO files and templates.
func isPO(path string) bool {
	return slices.Contains([]string{".po", ".pot"}, strings.ToLower(filepath.Ext(path))) && filemask.CheckPath(path) == nil
}

// maxDiffFile bounds a file.
const maxDiffFile = 128 << 20

func (d *differ) commit(ctx context.Context, h object.Hash) (state, error) {
	files, err := d.tree.Snapshot(ctx, h, isPO, nil)
	s := state{name: h.String(), ids: map[string]object.Hash{}}
	for _, f := range files {
		s.ids[f.Path] = f.Blob
	}
	s.read = func(path string) ([]byte, error) {
		data, err := d.tree.Blob(ctx, s.ids[path], maxDiffFile)
		if errors.Is(err, object.ErrUnknownObject) {
			err = fmt.Errorf("%w: in a partial clone, run git fetch --refetch --no-filter", err)
		}
		return data, err
	}
	return s, err
}

// folder is the state of some files of a folder; those that do not exist, and links, are left out.
func folder(dir, name string, paths []string) state {
	s := state{name: name, ids: map[string]object.Hash{}, read: func(path string) ([]byte, error) { return readBounded(filepath.Join(dir, path)) }}
	for _, path := range paths {
		if info, err := os.Lstat(filepath.Join(dir, path)); err == nil && info.Mode().IsRegular() {
			s.ids[filepath.ToSlash(path)] = object.Hash{}
		}
	}
	return s
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDiffFile+1))
	if len(data) > maxDiffFile {
		return nil, fmt.Errorf("%s: %w: more than %d bytes", path, object.ErrTooLarge, maxDiffFile)
	}
	return data, err
}

// paths compares two files, or the PO files of two folders.
func (d *differ) paths(ctx context.Context, args []string) (*diff.Report, error) {
	var states [2]state
	var folders [2]bool
	for i, dir := range args {
		info, err := os.Stat(dir)
		if err != nil {
			return nil, err
		}
		if folders[i] = info.IsDir(); !folders[i] {
			states[i] = state{dir, map[string]object.Hash{args[1]: {}}, func(string) ([]byte, error) { return readBounded(dir) }}
			continue
		}
		var paths []string
		err = filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(dir, file)
			if err == nil && e.IsDir() && rel != "." && strings.HasPrefix(e.Name(), ".") {
				return fs.SkipDir
			}
			if err == nil && !e.IsDir() && isPO(filepath.ToSlash(rel)) {
				paths = append(paths, rel)
			}
			return cmp.Or(err, ctx.Err())
		})
		if err != nil {
			return nil, err
		}
		states[i] = folder(dir, dir, paths)
	}
	if folders[0] != folders[1] {
		return nil, fmt.Errorf("%s and %s are a file and a folder: give two of a kind", args[0], args[1])
	}
	if !folders[0] {
		o, err := diffOptions(d.sourceLanguage, d.checkFlags)
		if err != nil {
			return nil, err
		}
		return d.compare(ctx, states[0], states[1], map[string]diff.Options{args[1]: o})
	}
	selected, err := d.selected(states[0], states[1])
	if err != nil {
		return nil, err
	}
	return d.compare(ctx, states[0], states[1], selected)
}

func diffOptions(sourceLanguage, flags string) (diff.Options, error) {
	checker, err := check.NewChecker(check.Quality{SourceLanguage: sourceLanguage, Flags: flags})
	return diff.Options{Checks: checker.In("")}, err // which is not called after an error
}

// fileSet is a mask, and what its files have in common.
type fileSet struct {
	filemask.FileSet
	rules filemask.Rules
	diff.Options
}

// sets finds the file sets among some paths, or reads those of the configuration.
func (d *differ) sets(old, new state, paths []string) (list []fileSet, err error) {
	add := func(f filemask.FileSet, sourceLanguage, flags string) {
		regex, regexErr := filemask.CompileLanguageRegex(f.LanguageRegex)
		options, optionsErr := diffOptions(sourceLanguage, flags)
		list = append(list, fileSet{f, filemask.Rules{Language: f.Language, LanguageRegex: regex}, options})
		err = cmp.Or(err, regexErr, optionsErr)
	}
	if d.config != "" {
		c, err := config.Load(d.config, d.environ, false)
		if err != nil {
			return nil, err
		}
		for _, component := range c.Components() {
			s := component.Settings()
			mask, err := filemask.Parse(s.Filemask)
			if err != nil {
				return nil, err
			}
			add(filemask.FileSet{Mask: mask, LanguageRegex: s.LanguageRegex, Language: s.Language, NewBase: s.NewBase}, s.SourceLanguage, s.CheckFlags)
		}
		return list, err
	}
	var files []object.File
	for _, path := range paths {
		files = append(files, object.File{Path: path})
	}
	found := filemask.Discover(files, filemask.DiscoverOptions{
		Known: func(code string) (string, bool) { l, ok := d.languages.Lookup(code); return l.Code, ok },
		Language: languageOf(func(f object.File) ([]byte, error) {
			if _, ok := new.ids[f.Path]; ok {
				return new.read(f.Path)
			}
			return old.read(f.Path)
		}, d.languages),
	})
	for _, f := range found.Sets {
		add(f, d.sourceLanguage, d.checkFlags)
	}
	for _, path := range found.Left {
		if old.ids[path] != new.ids[path] || old.ids[path].IsZero() {
			fmt.Fprintf(d.stderr, "repoglot: not compared, since its path names no language: %s\n", oneWord(path))
		}
	}
	return list, err
}

// selected says which files are compared, and as what.
func (d *differ) selected(old, new state) (map[string]diff.Options, error) {
	all := maps.Clone(old.ids)
	maps.Copy(all, new.ids)
	list, paths := map[string]diff.Options{}, slices.Sorted(maps.Keys(all))
	sets, err := d.sets(old, new, paths)
	for _, path := range paths {
		for i := range sets {
			s := &sets[i]
			m, ok := s.Mask.Select(path, s.rules)
			if !ok {
				continue
			}
			o := s.Options
			o.Group, o.Language = filemask.Fill(s.Mask.String(), m.Component), cmp.Or(m.Code, s.rules.Language)
			list[path] = o
			if template := filemask.Fill(s.NewBase, m.Component); slices.Contains(paths, template) {
				list[template] = diff.Options{Group: o.Group, Template: true}
			}
			break
		}
	}
	for _, path := range paths { // templates of no file set
		if _, is := list[path]; !is && strings.HasSuffix(path, ".pot") && (d.frozen != "" || len(sets) == 0) {
			list[path] = diff.Options{Group: path, Template: true}
		}
	}
	if err == nil && len(list) == 0 {
		err = errors.New("there are no PO files whose path names a language: name two files, or give --config")
	}
	return list, err
}

// compare compares the files of two states that are selected.
func (d *differ) compare(ctx context.Context, old, new state, selected map[string]diff.Options) (*diff.Report, error) {
	paths := slices.Sorted(maps.Keys(selected))
	files := make([]diff.File, len(paths))
	budget := semaphore.NewWeighted(2 * maxDiffFile)
	work, working := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i, path := range paths {
		o := selected[path]
		a, b, err := d.both(old, new, path)
		if err != nil {
			files[i] = diff.File{Path: path, Group: o.Group, Language: o.Language, Template: o.Template, Status: diff.Unreadable, Error: err.Error()}
			continue
		}
		size := int64(len(a) + len(b))
		if budget.Acquire(working, size) != nil {
			break
		}
		work.Go(func() error {
			defer budget.Release(size)
			files[i] = diff.Files(path, a, b, o)
			return ctx.Err()
		})
	}
	if err := cmp.Or(work.Wait(), ctx.Err()); err != nil {
		return nil, err
	}
	r := diff.New(files, 0)
	r.Base, r.Head = old.name, new.name
	return &r, nil
}

// both reads a file of both states; equal ones are nil.
func (d *differ) both(old, new state, path string) (a, b []byte, err error) {
	was, had := old.ids[path]
	is, has := new.ids[path]
	if had && has && was == is && !was.IsZero() {
		return nil, nil, nil
	}
	if has {
		if b, err = new.read(path); err != nil || had && !was.IsZero() && object.BlobID(b) == was {
			return nil, nil, err
		}
	}
	if had {
		a, err = old.read(path)
	} else if d.frozen != "" {
		a = []byte{} // whose strings are all new
	}
	return a, b, err
}

func (p *program) showCommand() *cobra.Command {
	return action("show FILE", "Print a PO file without what has no meaning, for git's textconv", arguments(1, "one file"), func(_ context.Context, args []string) error {
		p.memory().Limit()
		data, err := readBounded(args[0])
		if err != nil {
			return err
		}
		text, err := diff.Show(args[0], data)
		if err != nil { // git would compare nothing at all if this failed: the file is printed as it is
			fmt.Fprintf(p.stderr, "repoglot: %v\n", err)
		}
		_, err = p.stdout.Write(text)
		return err
	})
}
