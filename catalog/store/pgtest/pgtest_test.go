package pgtest

import "testing"

// TestDSN: every name has its own schema, which is there as long as the test.
func TestDSN(t *testing.T) {
	dsn := DSN(t, "a")
	Run(t, dsn, "CREATE TABLE a (b TEXT)")
	if again := DSN(t, "a"); again != dsn {
		t.Errorf("%s is not %s", again, dsn)
	}
	Run(t, dsn, "INSERT INTO a VALUES ('c')")
	Run(t, DSN(t, "b"), "CREATE TABLE a (b TEXT)")
	Run(t, dsn, "DELETE FROM a WHERE 1 / (SELECT COUNT(*) FROM a) = 1")
}
