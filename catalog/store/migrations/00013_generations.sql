-- +goose Up

-- The newest generation that may have changed every answer: of settings, or of the
-- marks of authors. All other generations change the components that have them.
ALTER TABLE clock ADD COLUMN configured BIGINT NOT NULL DEFAULT 0;
UPDATE clock SET configured = generation;

-- The newest change of a component, or of anything below it, beside that of its
-- head: a commit moves the heads of all components of a repository, and changes the
-- content of few.
ALTER TABLE components ADD COLUMN content_generation BIGINT NOT NULL DEFAULT 0;
UPDATE components SET content_generation = generation;

-- What changed since a generation.
CREATE INDEX components_generation ON components (generation, project_id, content_generation);
