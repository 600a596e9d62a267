package testrepos

// AppendDelta is for tests of deltas.
var AppendDelta = appendDelta
