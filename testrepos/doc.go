// Package testrepos makes git repositories with history from txtar scenarios,
// for tests and for the demo.
//
// A scenario is a text file: the settings of the repository, then its commits one
// after the other, each with its author, date and files. Create writes the commits
// of the initial push into a bare repository; Next (or, in a test, Advance) pushes
// every further commit, so that a test or a newcomer sees a change arrive.
// README.md describes the format.
//
// A Forge answers as the REST API of GitHub, GitLab, Gitea or Forgejo does, and checks
// what it is sent; a GitHost serves repositories by git.
//
// Goals:
//   - The same scenario always gives the same commit hashes: authors, dates and
//     time zones come from the scenario, never from the machine.
//   - It needs no git binary (except to serve: GitHost), no network, no
//     configuration of the user.
//   - A push writes objects first, then the references, so that a watcher never
//     sees half of it.
//   - A scenario can have anything that git can: merges, force pushes, symbolic
//     links, odd names, charsets, huge files.
//   - A mistake in a scenario is an error with its file and line.
//
// Non-goals: a general git library, work trees, speed on large histories (every commit
// reads the list of its parent's files), and safety against two processes pushing to one
// repository at the same time.
//
// Methods with a testing.TB end the test on an error, others return it: Advance and Next,
// Commit and Push.
//
// A Repo is used by one goroutine at a time. Others may read its directory while it
// changes, like that of any git repository.
package testrepos
