// Package bench measures repoglot as a whole process and prints each figure with its limit,
// or with the figure of the program that it is compared with. It has benchmarks only:
//
//	.ci/bench -repoglot bin/repoglot [-shared ../shared] [-only import,push]
//
// docs/benchmarks.md has the figures. The measurements, for -only, are import, replay,
// push, watch, onefile, page, search, http, cache, edits, and large, project, components,
// pushes and hostile, which run only if they are named. What a function of one package
// decides is measured by its benchmarks (go test -bench).
//
// Several binaries, or -engines sqlite,postgres, take turns at each measurement, so that
// they meet the same machine; later ones are printed as ratios to the first.
// PostgreSQL is the server of REPOGLOT_TEST_DATABASE, or one that is started.
//
// Each measurement has a temporary folder and uses only loopback. Without the shared
// data, the import is measured on a generated repository of the same size, and the row
// says so.
package bench
