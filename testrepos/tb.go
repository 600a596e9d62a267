package testrepos

import "path/filepath"

// TB is the part of testing.TB that the helpers for tests need.
type TB interface {
	// Helper marks the caller as a helper, as in testing.TB.
	Helper()
	// Fatalf ends the test with a message, as in testing.TB.
	Fatalf(format string, args ...any)
	// TempDir is a directory that is removed after the test, as in testing.TB.
	TempDir() string
	// Cleanup registers a function for the end of the test, as in testing.TB.
	Cleanup(func())
}

func must(tb TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatalf("testrepos: %v", err)
	}
}

// Load makes the named scenario (see [Names]), with its initial push, in a temporary
// directory of the test.
func Load(tb TB, name string) *Repo {
	tb.Helper()
	s, err := Named(name)
	must(tb, err)
	return create(tb, s)
}

// New is Load for a scenario in the test itself.
func New(tb TB, scenario []byte) *Repo {
	tb.Helper()
	s, err := Parse("scenario.txtar", scenario)
	must(tb, err)
	return create(tb, s)
}

// Empty makes a bare repository without commits, with the default branch main;
// Commit fills it.
func Empty(tb TB) *Repo {
	tb.Helper()
	return create(tb, &Scenario{Name: "empty", Branch: DefaultBranch})
}

func create(tb TB, s *Scenario) *Repo {
	tb.Helper()
	r, err := Create(filepath.Join(tb.TempDir(), s.Name+".git"), s)
	must(tb, err)
	return r
}

// Advance makes the next push of the scenario and returns the hash of its last
// commit ("" for a push that only moves a reference). The test ends if nothing
// is left; see Rest.
func (r *Repo) Advance(tb TB) string {
	tb.Helper()
	commits, err := r.Next()
	must(tb, err)
	if len(commits) == 0 {
		return ""
	}
	return commits[len(commits)-1].Hash
}

// Commit pushes a commit that is not in the scenario and returns its hash.
func (r *Repo) Commit(tb TB, c Change) string {
	tb.Helper()
	hash, err := r.Push(c)
	must(tb, err)
	return hash
}

// Merge pushes a commit that merges the given branches, labels or hashes into
// c.Branch, file by file as git does, with the files of c on top, and returns
// its hash. A file that both sides changed must be in c.
func (r *Repo) Merge(tb TB, c Change, others ...string) string {
	tb.Helper()
	c.Merge = append(c.Merge, others...)
	return r.Commit(tb, c)
}

// Branch makes or moves a branch (rev: a hash, label or branch), even if it loses commits,
// as `git push --force` does.
func (r *Repo) Branch(tb TB, name, rev string) {
	tb.Helper()
	must(tb, r.setBranch(name, rev))
}

// DeleteBranch removes a branch; it must exist.
func (r *Repo) DeleteBranch(tb TB, name string) {
	tb.Helper()
	must(tb, r.setBranch(name, ""))
}

// File returns the bytes of a file at rev (a hash, label or branch), or of the
// target if it is a symbolic link.
func (r *Repo) File(tb TB, rev, path string) []byte {
	tb.Helper()
	data, err := r.ReadFile(rev, path)
	must(tb, err)
	return data
}
