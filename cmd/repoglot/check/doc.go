// Package check lints PO and POT files: it finds them, reads them in parallel
// and renders what is wrong with them for people and for machines.
//
// Goals: one documented verdict per file, the same on every run and machine;
// output in a fixed order whatever the number of workers; bounded memory on
// large trees; nothing of a file's name or text that could steer a terminal or
// a CI system's log reaches the output.
//
// Non-goals: the grammar, which is poparse's, and the rules of quality, which are
// those of catalog/checks.
// The checks that are made here concern the file as a whole: its header and
// plural rule, as msgfmt -c does (gettext manual, section "Invoking the msgfmt
// Program"), but as warnings, as such a file can be read.
package check
