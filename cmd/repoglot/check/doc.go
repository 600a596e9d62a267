// Package check lints PO and POT files: it finds them, reads them in parallel
// and renders the findings for people and for programs.
//
// Goals: one documented verdict per file, the same on every run and machine;
// output in a fixed order whatever the number of workers; bounded memory on
// large trees; no part of a file's name or text that could control a terminal or a
// CI system's log reaches the output.
//
// Non-goals: the grammar, which is in poparse, and the rules of quality, which are
// in catalog/checks.
// The package itself checks the header and the plural rule of a file, as msgfmt -c
// does (gettext manual, section "Invoking the msgfmt Program"), but with warnings,
// since such a file can be read.
package check
