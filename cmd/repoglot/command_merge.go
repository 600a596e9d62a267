package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/poparse/merge"
)

type mergeFlags struct {
	output, path, favor    string
	markerSize             int
	install, global, local bool
}

func (p *program) mergeCommand() *cobra.Command {
	var f mergeFlags
	three := func(cmd *cobra.Command, args []string) error {
		if f.install {
			return arguments(0, "no argument")(cmd, args)
		}
		if err := arguments(3, "three files")(cmd, args); err != nil {
			return unmergedError{err}
		}
		return nil
	}
	cmd := action("merge BASE OURS THEIRS | --install", "Merge PO files by string, as git's merge driver or by hand", three, func(ctx context.Context, args []string) error {
		switch {
		case (f.global || f.local) && !f.install, f.global && f.local:
			return usageError{errors.New("--global and --local say what --install writes: give one of them with --install")}
		case f.install:
			return p.installMerge(ctx, f)
		case !slices.Contains([]merge.Favor{merge.FavorNone, merge.FavorOurs, merge.FavorTheirs, merge.FavorFuzzy}, merge.Favor(f.favor)):
			return unmergedError{fmt.Errorf("--favor %s: write ours, theirs or fuzzy", f.favor)}
		}
		return p.merge(ctx, args, f)
	})
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return unmergedError{cmd.Root().FlagErrorFunc()(cmd, err)}
	})
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "`FILE` to write, perhaps one of the three; the standard output without")
	cmd.Flags().StringVar(&f.path, "path", "", "`NAME` of the file in messages; OURS without")
	cmd.Flags().IntVar(&f.markerSize, "marker-size", 7, "`LENGTH` of conflict markers")
	cmd.Flags().StringVar(&f.favor, "favor", "", "`WAY` to decide conflicts: ours, theirs, or fuzzy: ours, marked, with theirs in a comment")
	cmd.Flags().BoolVar(&f.install, "install", false, "print what git needs to merge PO files so")
	cmd.Flags().BoolVar(&f.local, "local", false, "with --install: write it into this repository's configuration and .gitattributes")
	cmd.Flags().BoolVar(&f.global, "global", false, "with --install: write it for all repositories of this user")
	return cmd
}

// exitUnmerged tells git that there is no result: after 1 to 128 it would take ours for one.
const exitUnmerged = 129

// unmergedError marks a merge that wrote nothing.
type unmergedError struct{ error }

func (e unmergedError) Unwrap() error { return e.error }

// merge merges three files: an error says that there are conflicts, if it is no unmergedError.
func (p *program) merge(ctx context.Context, args []string, f mergeFlags) (err error) {
	defer func() {
		if r := recover(); r != nil { // whose exit status would be 2, and ours the result
			err = unmergedError{fmt.Errorf("this is a mistake of repoglot: %v\n%s", r, debug.Stack())}
		}
	}()
	var data [3][]byte
	for i, name := range args {
		var err error
		if data[i], err = os.ReadFile(name); err != nil && (i > 0 || !errors.Is(err, fs.ErrNotExist)) {
			return unmergedError{err}
		}
	}
	name := cmp.Or(f.path, args[1])
	r, err := merge.Files(data[0], data[1], data[2], merge.Options{Favor: merge.Favor(f.favor), MarkerSize: f.markerSize})
	if err != nil {
		fmt.Fprintf(p.stderr, "repoglot: %s: %s; git's merge of lines was taken\n", name, strings.ReplaceAll(err.Error(), "\n", " "))
		if r.Data, r.Conflicts, err = mergeLines(ctx, args, data, f); err != nil {
			return unmergedError{fmt.Errorf("%s: %w", name, err)}
		}
	}
	if f.output == "" {
		_, err = p.stdout.Write(r.Data)
	} else {
		err = os.WriteFile(f.output, r.Data, 0o644)
	}
	if err != nil {
		return unmergedError{fmt.Errorf("%s: %w", name, err)}
	}
	switch {
	case r.Conflicts > 0 && r.Table == nil && bytes.Equal(r.Data, data[1]):
		return fmt.Errorf("%s: git takes it for binary: it is ours, and has nothing of theirs", name)
	case r.Conflicts > 0:
		strs := "1 string has"
		if r.Conflicts > 1 {
			strs = fmt.Sprintf("%d strings have", r.Conflicts)
		}
		if r.Table == nil {
			strs = "the file has"
		}
		return fmt.Errorf("%s: %s conflict markers: choose a msgstr, and remove the markers", name, strs)
	}
	return nil
}

// mergeLines is git's merge of lines. What git takes for binary stays ours, as a conflict.
func mergeLines(ctx context.Context, args []string, data [3][]byte, f mergeFlags) (out []byte, conflicts int, err error) {
	base := args[0]
	if data[0] == nil {
		empty, err := os.CreateTemp("", "repoglot-merge-")
		if err != nil {
			return nil, 0, err
		}
		base = empty.Name()
		defer os.Remove(base)
		if err := empty.Close(); err != nil {
			return nil, 0, err
		}
	}
	call := []string{"merge-file", "-p", "-L", "ours", "-L", "base", "-L", "theirs", "--marker-size=" + strconv.Itoa(f.markerSize)}
	if f.favor == string(merge.FavorOurs) || f.favor == string(merge.FavorTheirs) {
		call = append(call, "--"+f.favor)
	}
	cmd := exec.CommandContext(ctx, "git", append(call, "--", args[1], base, args[2])...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out, 0, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() <= 127:
		return out, exit.ExitCode(), nil
	case strings.Contains(stderr.String(), "binary"):
		return data[1], 1, nil
	}
	return nil, 0, fmt.Errorf("git merge-file: %w: %s", err, strings.TrimSpace(stderr.String()))
}

// mergeConfig are the values of git's configuration, and attributes the lines that use them.
// An inner merge of a criss-cross merge takes the base, so that no base has markers.
var mergeConfig = [][2]string{
	{"merge.repoglot.name", "PO files by string"},
	{"merge.repoglot.driver", "repoglot merge %O %A %B -o %A --path %P --marker-size %L"},
	{"merge.repoglot.recursive", "binary"},
}

var mergeAttributes = []string{"*.po merge=repoglot", "*.pot merge=repoglot"}

// installMerge prints what git needs, or writes it.
func (p *program) installMerge(ctx context.Context, f mergeFlags) error {
	if !f.global && !f.local {
		for _, value := range mergeConfig {
			fmt.Fprintf(p.stdout, "git config --global %s '%s'\n", value[0], value[1])
		}
		_, err := fmt.Fprintf(p.stdout, "printf '%%s\\n' '%s' >> .gitattributes\n", strings.Join(mergeAttributes, "' '"))
		return err
	}
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Stderr = p.stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("git %s: %w", args[0], err)
		}
		return strings.TrimSpace(string(out)), err
	}
	scope, file := "--local", ""
	var err error
	if f.global {
		scope = "--global"
		if file, err = git("config", "--global", "--type=path", "--default", "", "core.attributesFile"); err == nil && file == "" {
			file, err = os.UserConfigDir()
			file = filepath.Join(file, "git", "attributes")
			if home := os.Getenv("XDG_CONFIG_HOME"); err == nil && home == "" {
				file, err = os.UserHomeDir()
				file = filepath.Join(file, ".config", "git", "attributes")
			}
		}
	} else if file, err = git("rev-parse", "--show-toplevel"); err == nil {
		file = filepath.Join(file, ".gitattributes")
	}
	for _, value := range mergeConfig {
		if err == nil {
			_, err = git("config", scope, value[0], value[1])
		}
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	for _, line := range mergeAttributes {
		if !slices.Contains(strings.Split(string(text), "\n"), line) {
			text = append(text, line+"\n"...)
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "git merges PO files by string now: git config %s, %s\n", scope, file)
	return err
}
