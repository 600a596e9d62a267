-- +goose Up
-- What searches read of 512 successive units, made from their rows (catalog/store/internal/blocks):
-- id is kind * 2^56 + the number of the block. A block that is missing is read from the rows.
CREATE TABLE search_blocks (
  id   @ID PRIMARY KEY,
  data @BYTES NOT NULL
);
