// Package testrepos makes git repositories with history from txtar scenarios,
// for tests and for the demo.
//
// A scenario is one text file: the settings of the repository, then its commits
// one after the other, each with its author, date and files. Create writes the
// commits of the initial push into a bare repository; every further commit
// waits until Next (or, in a test, Advance) pushes it, so that a test or a
// newcomer sees a change arrive. The format is described in README.md.
//
// Goals:
//   - The same scenario gives the same commit hashes everywhere, for ever:
//     authors, dates and time zones are written down or derived, never taken
//     from the machine.
//   - No git binary, no network, no configuration of the user: go-git alone.
//   - A push looks like one: objects first, then the references, so that a
//     watcher never sees half of it.
//   - Anything git can hold can be said: merges, force pushes, symbolic links,
//     odd names, charsets, huge files.
//   - A mistake in a scenario is an error with its file and line.
//
// Non-goals: a general git library, work trees, speed on large histories
// (every commit reads the whole list of files of its parent), and safety
// against two processes pushing to one repository at the same time.
//
// The package does not import testing, so that the demo binary does not carry
// test flags; the helpers for tests take a TB, which *testing.T and *testing.B
// satisfy. Methods with a TB end the test on an error, those without return it:
// Advance and Next, Commit and Push.
//
// A Repo is used by one goroutine at a time. Its directory may be read by
// others while it changes, as any git repository.
package testrepos
