-- +goose Up

-- For the check long_untranslated. units.since is the committer time of the commit that
-- brought a source string, NULL if that is created; components.oldest is the smallest of
-- a component, NULL if that is not known. Which strings of the table behind fail was
-- decided last for the percentage behind_percent, in tenths, and the time before which
-- strings are old, behind_before; NULL if the table does not have the component.
ALTER TABLE units ADD COLUMN since BIGINT;
ALTER TABLE components ADD COLUMN oldest BIGINT;
ALTER TABLE components ADD COLUMN behind_before BIGINT;
ALTER TABLE components ADD COLUMN behind_percent BIGINT;
