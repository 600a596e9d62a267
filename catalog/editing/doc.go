// Package editing stores what people change through the API: texts of strings, strings and
// files that are added, files that are removed, suggestions, uploads, locks. It takes them
// back and ends those that cannot be done.
//
// Goals: an edit is durable, served and checked when its function returns; a pull may move
// the head meanwhile, and the edit is tried again on the new one; what pulls store of a
// string (statistics, entries, days, checks) is stored of an edit in the same way, since
// an edit is a step that stays at its commit. Strings and languages that are added, and
// languages that are removed, have no text that could be laid over a file that no commit has:
// nothing of them is served before a pull has found it.
//
// Non-goals: what becomes of an edit when the repository has moved on (catalog/edit, by a
// pull in catalog/ingest), commits and pushes (catalog/flush, catalog/push), who may edit (api).
package editing
