// Package notify tells receivers of webhooks what changed.
//
// Nothing is queued: a receiver has a cursor in the list of changes, which moves after a
// delivery arrived. So each change that it wants comes at least once, in order, and again with
// the same webhook-id; a receiver that was away has all of them.
//
// Goals: of the processes of a database one delivers to a receiver at a time; one that fails or
// hangs delays no other; what a receiver takes in memory has a bound; no address of this network
// is asked that the configuration does not allow, whatever its name resolves to.
//
// Non-goals: what is a change (package catalog), and where its page is.
package notify
