-- +goose Up

-- Entries 31, 59 and 63 of the six hours up to last_change_at: part of the
-- statistics, kept like the other counts.
ALTER TABLE translations ADD COLUMN recent_changes BIGINT NOT NULL DEFAULT 0;
UPDATE translations SET recent_changes = (
  SELECT COALESCE(SUM(d.n), 0) FROM deltas d
  WHERE d.translation_id = translations.id AND d.at > translations.last_change_at - 21600000000
) WHERE last_change_at IS NOT NULL;

-- A description of the head: JSON of catalog.Commit. It is NULL or describes
-- another commit if the head is unknown.
ALTER TABLE components ADD COLUMN head_commit TEXT;

-- Lists over many components: which languages there are, which translations.
CREATE INDEX translations_live ON translations (component_id, removed, language);
