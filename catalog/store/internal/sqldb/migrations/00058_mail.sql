-- +goose Up
-- The address that digests of an account go to instead of that of its commits; and one that it
-- wants, until it confirms that with the secret of this SHA-256 before mail_until.
ALTER TABLE accounts ADD COLUMN mail TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN mail_wanted TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN mail_secret @BYTES;
ALTER TABLE accounts ADD COLUMN mail_until BIGINT NOT NULL DEFAULT 0;
