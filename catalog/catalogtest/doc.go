// Package catalogtest makes catalogues for tests. A [Store] is an open database
// with its language table; a [Puller] fills one from a git repository.
//
// Goals: the set-up that the tests of several packages need, once; one way to
// render what a store serves, so that two stores can be compared.
//
// Non-goals: product code. Only tests may import this package, as
// docs/design.md#rooms says and catalog/imports_test.go checks.
package catalogtest
