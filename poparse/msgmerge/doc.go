// Package msgmerge updates a PO file to a template as GNU msgmerge 0.21 does.
//
// Goals: the bytes that msgmerge writes, with the options that Weblate's add-on has;
// with fuzzy matching, the similar text that msgmerge takes; cost bounded by a number of
// comparisons.
//
// Non-goals: compendia, several domains in one file, properties and strings files, and
// the checks of formats, which the caller has (see Options.Fits).
//
// The result is a [poparse.File] made by hand, which poparse writes in msgcat's form. A
// test compares all pairs of files and templates of the recorded repositories with
// msgmerge's output.
//
// See https://www.gnu.org/software/gettext/manual/html_node/msgmerge-Invocation.html
package msgmerge
