package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/cmd/repoglot/check"
)

type checkFlags struct {
	check.ReportOptions
	quality               check.Quality
	strict, listLanguages bool
	minTranslated         int
	template              string
}

func (p *program) checkCommand() *cobra.Command {
	var f checkFlags
	var cmd *cobra.Command
	cmd = action("check [FILE|DIR|-]...", "Lint PO files", nil, func(ctx context.Context, args []string) error {
		for _, name := range []string{"source-language", "check-flags"} {
			if cmd.Flags().Changed(name) && !f.Quality {
				return usageError{fmt.Errorf("--%s says how quality checks are made: add --quality", name)}
			}
		}
		if cmd.Flags().Changed("min-translated") && !f.listLanguages {
			return usageError{errors.New("--min-translated says which languages are listed: add --list-languages")}
		}
		return p.check(ctx, args, f, cmd.InOrStdin())
	})
	cmd.Flags().StringVar(&f.Format, "format", check.FormatText, "`FORMAT` of the report: text, json, sarif or github")
	cmd.Flags().BoolVar(&f.Stats, "stats", false, "print counts as msgfmt --statistics does, and their sums")
	cmd.Flags().BoolVar(&f.Summary, "summary", false, "print how many findings each code has, and the first of them, instead of all")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "exit with 1 also if there are only warnings")
	cmd.Flags().BoolVar(&f.listLanguages, "list-languages", false, "list languages, as a LINGUAS file or with --format json, instead of findings")
	cmd.Flags().IntVar(&f.minTranslated, "min-translated", 0, "least `PERCENT` of translated messages of a language, for --list-languages")
	cmd.Flags().BoolVar(&f.Quality, "quality", false, "also make the quality checks of the server")
	cmd.Flags().StringVar(&f.quality.SourceLanguage, "source-language", "en", "`CODE` of the language of the msgids, for --quality")
	cmd.Flags().StringVar(&f.quality.Flags, "check-flags", "", "`FLAGS` for all strings, as a component's check_flags, for --quality")
	cmd.Flags().StringVar(&f.template, "template", "", "`FILE` that the other files are compared with: strings that they lack, and that are gone")
	return cmd
}

func (p *program) check(ctx context.Context, paths []string, f checkFlags, stdin io.Reader) error {
	report, err := p.report(f)
	if err != nil {
		return usageError{err}
	}
	var sum check.Summary
	options := check.Options{Paths: paths, Stdin: stdin}
	if f.Quality {
		if options.Quality, err = check.NewChecker(f.quality); err != nil {
			return usageError{err}
		}
	}
	if f.template != "" {
		data, err := os.ReadFile(f.template)
		if err != nil {
			return usageError{fmt.Errorf("--template: %w", err)}
		}
		if options.Template, err = check.ParseTemplate(f.template, data); err != nil {
			return usageError{fmt.Errorf("--template: %w", err)}
		}
	}
	err = check.Run(ctx, options, func(r check.Result) error {
		sum.Add(r)
		return report.File(r)
	})
	if ctx.Err() != nil {
		return errors.New("stopped by a signal; the report is not complete")
	}
	if err == nil {
		err = report.Close()
	}
	if err != nil {
		return err
	}
	if sum.Files == 0 {
		return errors.New("there is no .po or .pot file here: nothing was checked")
	}
	text := fmt.Sprintf("%s and %s in %s", check.Quantity(sum.Errors, "error"), check.Quantity(sum.Warnings, "warning"), check.Quantity(sum.Files, "file"))
	if sum.Errors > 0 || f.strict && sum.Warnings > 0 {
		return errors.New(text)
	}
	_, err = fmt.Fprintf(p.stderr, "repoglot: %s\n", text)
	return err
}

func (p *program) report(f checkFlags) (check.Report, error) {
	if f.listLanguages {
		return check.NewLanguagesReport(p.stdout, f.Format, f.minTranslated)
	}
	f.Version = programVersion()
	return check.NewReport(p.stdout, f.ReportOptions)
}
