-- The number is the first half of the key of the advisory lock that every transaction holds that
-- takes ids from the sequences of tables; the other is the id of the schema.
DO $$
DECLARE schema INTEGER = current_schema()::regnamespace::oid::int;
BEGIN
	BEGIN
		IF pg_try_advisory_xact_lock(1919250537, schema) THEN
			PERFORM setval(pg_get_serial_sequence(t, 'id'), newest + 1, FALSE) FROM (
				SELECT 'projects' AS t, COALESCE(MAX(id), 0) AS newest FROM projects
				UNION ALL SELECT 'components', COALESCE(MAX(id), 0) FROM components
				UNION ALL SELECT 'translations', COALESCE(MAX(id), 0) FROM translations
				UNION ALL SELECT 'users', COALESCE(MAX(id), 0) FROM users
				UNION ALL SELECT 'compared_scopes', COALESCE(MAX(id), 0) FROM compared_scopes
				UNION ALL SELECT 'file_pieces', COALESCE(MAX(id), 0) FROM file_pieces) AS newest;
		END IF;
		RAISE EXCEPTION 'unlock';
	EXCEPTION WHEN raise_exception THEN
		NULL;
	END;
	PERFORM pg_advisory_xact_lock_shared(1919250537, schema);
END $$
