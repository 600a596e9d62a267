// Command repoglot serves the translations in git repositories of PO files through
// the API that clients of Weblate use.
//
// repoglot --help lists the commands; docs/repoglot.1 is made from their texts.
//
// serve and sync without --config read ./repoglot.yaml. docs/configuration.md is
// the manual of the file; flags win over environment variables, which win over the
// file. serve REPO finds the filemasks in the repository and keeps its data in
// repoglot/NAME-HASH below the user's cache directory, unless --data-dir or
// REPOGLOT_DATA_DIR names another folder.
//
// Besides the API below /api/ a server answers
//
//	/          the projects, as a page; or links to the API and this
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
