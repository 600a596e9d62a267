-- +goose Up
-- The open requests of others that a component shows: JSON of catalog.Incomings; '' without any.
ALTER TABLE components ADD COLUMN requests TEXT NOT NULL DEFAULT '';
