-- +goose Up
-- Sums of the deltas of a list of changes, the server's (kind s, id 1), a project's (p) or a
-- component's (c), for each span of 1,024 entries that is full: history.CloseSpans.
CREATE TABLE spans (
  kind TEXT NOT NULL,
  id   BIGINT NOT NULL,
  span BIGINT NOT NULL,
  data @BYTES NOT NULL,
  PRIMARY KEY (kind, id, span)
) @CLUSTERED;
