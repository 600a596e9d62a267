-- +goose Up

-- A file longer than 256 KiB is stored in pieces that end at paragraphs which its own
-- text selects, so that a new version rewrites only pieces that differ. files.pieces
-- lists them (file_pieces.go), and files.data is empty. NULL: data has the whole file.
ALTER TABLE files ADD COLUMN pieces @BYTES;
CREATE TABLE file_pieces (
  id   @AUTOID PRIMARY KEY,
  data @BYTES NOT NULL                             -- zstd
);
