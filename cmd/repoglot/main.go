// Command repoglot serves the translations that lie in git repositories of PO
// files, through the API that clients of Weblate speak.
//
//	repoglot serve --config repoglot.yaml   serve what a configuration names
//	repoglot serve REPO                     serve one repository, no configuration
//	repoglot sync [PROJECT/COMPONENT]...    pull everything once, without serving
//	repoglot version                        print the version
//
// serve without --config and REPO reads ./repoglot.yaml. docs/configuration.md
// is the manual of the file; flags win over environment variables, those over
// the file. serve REPO finds the masks in the repository itself and keeps its
// data below the user's cache directory, in repoglot/NAME-HASH, unless
// --data-dir or REPOGLOT_DATA_DIR names another place.
//
// Beside the API below /api/ a server answers
//
//	/          what is served, for people and for programs
//	/healthz   200 while the process lives
//	/readyz    200 once every component was imported or its first attempt
//	           failed, else 503; the body tells about each
//	/metrics   for Prometheus; on metrics_listen, if that is set, together with
//	           /debug/pprof/
//
// SIGINT and SIGTERM end a server: answers in progress are finished, pulls stop
// after their step. A second signal ends it at once. The exit status is 0 if
// all went well, 1 after a failure, and 2 where the command line or the
// configuration has to be mended. sync exits with 0 only if every component is
// at its branch's head and every file of it is served.
//
// Goals: everything is wired here, on few screens; an error is one line with
// its remedy. Non-goals: this package holds no rule of the API, of git or of PO.
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
