-- Filtered change lists are sums over deltas. The index that gives the order has
-- all columns of the sums: filters by user read author_id, filters by time read
-- at.

-- +goose Up

CREATE INDEX deltas_server ON deltas (first_change, n, added, updated, removed, at);

DROP INDEX deltas_component;
CREATE INDEX deltas_component ON deltas (component_id, first_in_component, first_change, n, added, updated, removed, at, author_id);

DROP INDEX deltas_translation;
CREATE INDEX deltas_translation ON deltas (translation_id, first_in_translation, first_change, n, added, updated, removed, at, author_id);

DROP INDEX deltas_author;
CREATE INDEX deltas_author ON deltas (author_id, first_change, n, added, updated, removed, at, translation_id, component_id, project_id);
