// Package remote reaches the repositories that are mirrored: on this machine, by
// http, https, ssh and git's own protocol, with the git program or without.
//
// Goals: one question tells whether a branch has moved; whatever a remote sends
// or withholds costs bounded memory, disk and time; credentials go to their own
// host and appear in no message, argument or log; errors say what happened and
// What to do.
//
// Non-goals: storing what is fetched (see object), deciding when to fetch,
// pushing, submodules, bundles, transport helpers.
package remote
