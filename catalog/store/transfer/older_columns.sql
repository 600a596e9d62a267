-- What exports of older versions have and the database does not: older_rows.sql removes it.
ALTER TABLE components ADD COLUMN remarked SMALLINT NOT NULL DEFAULT 1;
ALTER TABLE edits ADD COLUMN pushed TEXT NOT NULL DEFAULT '';
ALTER TABLE components ADD COLUMN counted SMALLINT NOT NULL DEFAULT 0;
CREATE TABLE occurrences (project_id BIGINT, id_hash BIGINT, id_key BIGINT, source_id BIGINT);
CREATE TABLE shared_strings (project_id BIGINT, id_hash BIGINT, id_key BIGINT, data BYTEA);
CREATE TABLE repeats (project_id BIGINT, language TEXT, private SMALLINT, total BIGINT, total_words BIGINT, total_chars BIGINT, translated BIGINT, translated_words BIGINT, translated_chars BIGINT, fuzzy BIGINT, fuzzy_words BIGINT, fuzzy_chars BIGINT, readonly BIGINT, readonly_words BIGINT, readonly_chars BIGINT);
CREATE TABLE file_edits (id BIGINT PRIMARY KEY, component_id BIGINT NOT NULL, language TEXT NOT NULL, path TEXT NOT NULL, removes SMALLINT NOT NULL, status TEXT NOT NULL,
	reason TEXT NOT NULL, pushed TEXT NOT NULL DEFAULT '', author_name TEXT NOT NULL, author_email TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
	id_hash BIGINT NOT NULL DEFAULT 0, id_key BIGINT NOT NULL DEFAULT 0, context TEXT NOT NULL DEFAULT '', source TEXT NOT NULL DEFAULT '', target TEXT NOT NULL DEFAULT '', state SMALLINT NOT NULL DEFAULT 0);
ALTER TABLE sent RENAME COLUMN edit_id TO file_edit_id;
