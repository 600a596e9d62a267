// Command repoglot serves the translations in git repositories of PO files through the API
// that clients of Weblate use.
//
// repoglot --help lists the commands; docs/repoglot.1 is made from their texts. What they read
// is in docs/configuration.md, what a server answers beside /api/ in docs/operation.md, with its
// signals and folders, and exit statuses in docs/codes.md.
//
// Goals: an error is one line with its remedy. Non-goals: wiring things together (see server).
package main

import (
	"context"
	_ "embed" // of help.txt
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// version is set when a release is built (-ldflags "-X main.version=…").
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes of run.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2 // the command line or the configuration is wrong
)

// program is shared by all commands.
type program struct {
	environ        []string
	stdout, stderr io.Writer
	flags          flags
	leaseLength    time.Duration // of a cluster; 0: the default. Tests shorten it
}

type flags struct {
	config, listen, dataDir, logLevel, logFormat string
}

// usageError marks an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// commandError marks an error of a command's work: all errors of cobra itself,
// about unknown commands and flags, are errors in the command line.
type commandError struct{ error }

func (e commandError) Unwrap() error { return e.error }

// run is the program without the process: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{environ: os.Environ(), stdout: stdout, stderr: stderr}
	return p.run(ctx, args, stdin)
}

func (p *program) run(ctx context.Context, args []string, stdin io.Reader) int {
	root := p.command()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	stderr := p.stderr // a command may put another before it
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "repoglot: %s\n", strings.TrimRight(line, "\n"))
	}
	return exitCode(err)
}

func exitCode(err error) int {
	switch {
	case errors.As(err, new(unmergedError)):
		return exitUnmerged
	case !errors.As(err, new(commandError)), errors.As(err, new(usageError)), errors.As(err, new(config.Errors)):
		return exitUsage
	}
	return exitFailure
}

func (p *program) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "repoglot",
		Short:         "Serve the translations in git repositories of PO files",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionLine(),
		Args:          knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.New("no command was given: try repoglot serve REPO, or repoglot --help")
		},
	}
	root.SetVersionTemplate("repoglot {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(p.serveCommand(), p.pullCommand(), p.syncCommand(), p.jobsCommand(), p.discoverCommand(), p.checkCommand(), p.diffCommand(), p.mergeCommand(), p.showCommand(), p.tokenCommand(), p.accountCommand(), p.healthCommand(), p.versionCommand())
	root.AddCommand(p.databaseCommands()...)
	describe(root)
	return root
}

// helpText has the long texts of commands, each after "== COMMAND", and their examples, after
// "== COMMAND example".
//
//go:embed help.txt
var helpText string

func describe(root *cobra.Command) {
	for section := range strings.SplitSeq(helpText, "== ") {
		name, text, _ := strings.Cut(strings.TrimSuffix(section, "\n"), "\n")
		name, example := strings.CutSuffix(name, " example")
		cmd, _, err := root.Find(strings.Fields(name))
		switch {
		case err != nil || cmd == root: // before the first section
		case example:
			cmd.Example = text
		default:
			cmd.Long = text
		}
	}
}

func (p *program) dataFlags(f *pflag.FlagSet) {
	f.StringVar(&p.flags.config, "config", "", "configuration `FILE` (default ./"+defaultConfig+")")
	f.StringVar(&p.flags.dataDir, "data-dir", "", "`FOLDER` of database and mirrors; wins over data_dir of the configuration")
}

func (p *program) logFlags(f *pflag.FlagSet, level slog.Level) {
	f.StringVar(&p.flags.logLevel, "log-level", "", "`LEVEL` of the log on the standard error: debug, info, warn or error (default "+strings.ToLower(level.String())+")")
	f.StringVar(&p.flags.logFormat, "log-format", "text", "`FORMAT` of the log: text or json")
}

// knownCommand is the error of a command that is not known; it names the nearest one.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := "see " + cmd.CommandPath() + " --help"
	if best := config.Nearest(args[0], names); best != "" {
		hint = "did you mean " + cmd.CommandPath() + " " + best + "?"
	}
	return fmt.Errorf("unknown command %q: %s", args[0], hint)
}

// flagError adds to the error of an unknown flag the nearest one.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		best := config.Nearest(name, names)
		if usual := usualFlags[name]; best == "" && slices.Contains(names, usual) {
			best = usual
		}
		if best != "" {
			return fmt.Errorf("%w: did you mean --%s?", err, best)
		}
	}
	return fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())
}

// usualFlags are the names that flags of ours have in other programs.
var usualFlags = map[string]string{
	"address": "listen", "addr": "listen", "bind": "listen", "host": "listen", "port": "listen",
	"data": "data-dir", "verbose": "log-level", "debug": "log-level", "output": "format",
}

// arguments demands n arguments, which what names.
func arguments(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		if n == 0 {
			return fmt.Errorf("%s takes no argument, but there is %q", cmd.CommandPath(), args[0])
		}
		return fmt.Errorf("%s takes %s, not %d arguments: write %s", cmd.CommandPath(), what, len(args), cmd.UseLine())
	}
}

// action is a command that does some work, whose errors are marked with commandError.
func action(use, short string, args cobra.PositionalArgs, work func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		if err := work(cmd.Context(), args); err != nil {
			return commandError{err}
		}
		return nil
	}}
}

func (p *program) versionCommand() *cobra.Command {
	return action("version", "Print the version", arguments(0, "no argument"), func(context.Context, []string) error {
		_, err := fmt.Fprintf(p.stdout, "repoglot %s\n", versionLine())
		return err
	})
}

func versionLine() string {
	return fmt.Sprintf("%s %s %s/%s", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// programVersion is set by the build, or else that of the module, which has the commit.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "unknown"
}
