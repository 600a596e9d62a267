// Command repoglot serves the translations in git repositories of PO files through
// the API that clients of Weblate use.
//
//	repoglot serve [--no-pull] [--config FILE | REPO]
//		Serve the projects of a configuration, or one repository without one
//	repoglot migrate
//		Bring the schema of the database up to date
//	repoglot pull [--config FILE]
//		Pull beside other processes that use one PostgreSQL database
//	repoglot jobs [--format text|json]
//		Show what the processes that use one PostgreSQL database pull
//	repoglot sync [--config FILE] [PROJECT/COMPONENT]...
//		Pull everything, or the components named, once
//	repoglot db export FILE
//		Write the database to a new file, also while servers are running
//	repoglot db import FILE
//		Read what db export wrote into the database, which must be empty
//	repoglot discover REPO
//		Find the translation files of a repository and print a configuration
//	repoglot check [FILE|DIR|-]...
//		Lint PO files
//	repoglot token create [--scope read|write|admin] [--author NAME] [--email ADDRESS] [--project SLUG]… [--language CODE]… [--expires 90d|DATE] NAME
//		Make a token and print it; it is shown only once
//	repoglot token list
//		List the tokens, without their secrets
//	repoglot token log
//		List when tokens were made and revoked, the oldest first
//	repoglot token revoke NAME
//		Revoke a token at once
//	repoglot verify
//		Recount the whole database, also while a server is running
//	repoglot backup FILE
//		Copy the database to a new file, also while a server is running
//	repoglot restore FILE
//		Make a backup the database; the old one is kept beside it
//	repoglot health
//		Ask the server on this machine whether it lives
//	repoglot version
//		Print the version
//
// serve and sync without --config read ./repoglot.yaml. docs/configuration.md is
// the manual of the file; flags win over environment variables, which win over the
// file. serve REPO finds the filemasks in the repository and keeps its data in
// repoglot/NAME-HASH below the user's cache directory, unless --data-dir or
// REPOGLOT_DATA_DIR names another folder.
//
// Besides the API below /api/ a server answers
//
//	/          the public components, as a page or as links
//	/healthz   200 while the process lives
//	/readyz    200 once every component was imported or its first attempt
//	           failed, else 503; the body has the state of each
//	/metrics   for Prometheus; on metrics_listen, if that is set, together with
//	           /debug/pprof/
//	/hooks/    webhooks of code hosting services (docs/webhooks.md)
//	/git/      clones of the repositories, unless git_export is false
//
// SIGINT and SIGTERM end a server: answers in progress are finished, pulls stop
// after their step. A second signal ends it at once. The exit status is 0 on
// success, 1 after a failure, and 2 if the command line or the configuration is
// wrong. sync exits with 0 only if every component is at its branch's head and
// every file of it is served.
//
// Goals: an error is one line with its remedy.
// Non-goals: this package wires nothing together (see server).
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
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
