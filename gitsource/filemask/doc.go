// Package filemask selects translation files by their paths: masks with "*" for
// the language and "{component}" for the component, the rules for language
// codes, and the masks that fit a repository that nobody configured.
//
// Goals: paths mean here what Weblate's filemask means; matching takes time
// linear in the path; a directory that cannot hold a match is not entered;
// unsafe paths are refused and reported.
//
// Non-goals: reading files; knowing languages (callers say what a code means).
package filemask
