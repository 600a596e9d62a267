package pgtest

import (
	"net/url"
	"strings"
	"testing"
)

// copyScript makes the schema TO a copy of the schema FROM, but for foreign keys.
const copyScript = `DO $$
DECLARE t RECORD;
BEGIN
	SET LOCAL client_min_messages = error;
	DROP SCHEMA IF EXISTS TO CASCADE;
	CREATE SCHEMA TO;
	FOR t IN SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'FROM' LOOP
		EXECUTE format('CREATE TABLE TO.%I (LIKE FROM.%I INCLUDING ALL)', t.name, t.name);
		EXECUTE format('INSERT INTO TO.%I SELECT * FROM FROM.%I', t.name, t.name);
	END LOOP;
	FOR t IN SELECT table_name AS name, column_name AS id FROM information_schema.columns WHERE table_schema = 'TO' AND is_identity = 'YES' LOOP
		EXECUTE format('SELECT setval(pg_get_serial_sequence(%L, %L), COALESCE(MAX(%I), 0) + 1, FALSE) FROM TO.%I', 'TO.' || t.name, t.id, t.id, t.name);
	END LOOP;
END $$`

// Copy makes the database at dsn to, which nobody uses, a copy of the one at from.
func Copy(tb testing.TB, from, to string) {
	tb.Helper()
	Run(tb, to, strings.NewReplacer("FROM.", schemaOf(from)+".", "'FROM'", "'"+schemaOf(from)+"'", "TO.", schemaOf(to)+".", "'TO'", "'"+schemaOf(to)+"'",
		"EXISTS TO ", "EXISTS "+schemaOf(to)+" ", "SCHEMA TO;", "SCHEMA "+schemaOf(to)+";").Replace(copyScript))
}

func schemaOf(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return ""
	}
	return u.Query().Get("search_path")
}
