package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

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
}

// flags are the values of the command line's flags.
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
	root := p.command()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
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
	var work commandError
	var usage usageError
	var broken config.Errors
	if !errors.As(err, &work) || errors.As(err, &usage) || errors.As(err, &broken) {
		return exitUsage
	}
	return exitFailure
}

func (p *program) command() *cobra.Command {
	root := &cobra.Command{
		Use:               "repoglot",
		Short:             "Serve the translations in git repositories of PO files",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.New("no command was given: try repoglot serve REPO, or repoglot --help")
		},
	}
	f := root.PersistentFlags()
	f.StringVar(&p.flags.config, "config", "", "configuration `FILE` (default ./repoglot.yaml)")
	f.StringVar(&p.flags.dataDir, "data-dir", "", "`FOLDER` of database and mirrors, instead of data_dir")
	f.StringVar(&p.flags.logLevel, "log-level", "", "debug, info, warn or error (default info, for sync warn)")
	f.StringVar(&p.flags.logFormat, "log-format", "text", "text or json")
	root.AddCommand(p.serveCommand(), p.syncCommand(), p.discoverCommand(), p.checkCommand(), p.tokenCommand(), p.verifyCommand(), p.versionCommand())
	return root
}

// work marks the errors of a command's work with commandError.
func work(fn func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := fn(cmd, args); err != nil {
			return commandError{err}
		}
		return nil
	}
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: work(func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.stdout, "repoglot %s %s %s/%s\n", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}),
	}
}

// programVersion is the version set by the build, or else the version of the
// module or the commit.
func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "unknown"
}
