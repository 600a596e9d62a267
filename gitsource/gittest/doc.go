// Package gittest makes git repositories for the tests of gitsource and the packages below it.
//
// Goals: any history and any malformed object, the git program in a known environment, the
// shared repositories. It imports none of our packages, so that the tests inside each can use
// it. Non-goals: repositories of PO files with a story (testrepos), any use outside tests.
package gittest
