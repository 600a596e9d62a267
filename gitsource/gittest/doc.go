// Package gittest makes git repositories for the tests of gitsource and the
// packages below it.
//
// Goals: any history and any malformed object, the git program in a known
// environment, the shared repositories. It imports none of our packages, so that
// the tests inside each of them can use it. Non-goals: repositories of PO files
// with a story (see testrepos), and any use outside tests.
package gittest
