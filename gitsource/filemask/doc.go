// Package filemask selects translation files by their paths: masks with "*" for the
// language and "{component}" for the component, rules for language codes, and
// discovery of the masks that fit a repository without a configuration.
//
// Goals: a mask selects the same files as Weblate's filemask; matching takes time linear in the
// path; a directory without a match is not entered; unsafe paths are refused and reported.
//
// Non-goals: reading files; knowledge of languages, which callers provide.
//
// Discovery guesses first and then proves. It guesses a mask for each path and joins four
// or more masks that differ in one place. Then it selects files with each mask, and keeps
// it only if it selects the files that it was made of and no others, with the mildest
// language_regex that does this. So no file is in two sets.
package filemask
