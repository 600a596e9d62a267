// Package testrepos makes git repositories with history from scenarios, for tests.
//
// A scenario is a stream of git fast-import, in pushes. Create makes the initial push into a
// bare repository; Advance makes every further one, so that a test sees a change arrive.
// README.md describes the format.
//
// A Forge answers like the REST APIs of GitHub, GitLab, Gitea and Forgejo, and checks requests.
//
// Goals:
//   - The same scenario always gives the same commit hashes: authors, dates and
//     time zones come from the scenario, never from the machine.
//   - It is git that writes: a watcher never sees half of a push, and nothing here has to
//     be right about objects and references.
//   - No network, no configuration of the user.
//
// Non-goals: trees that git refuses to write (see gittest), work trees, and safety against two
// processes pushing to one repository at the same time.
//
// Methods with a testing.TB end the test on an error; Next and Push return it.
//
// A Repo is used by one goroutine at a time. Others may read its directory while it
// changes, like that of any git repository.
package testrepos
