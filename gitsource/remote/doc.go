// Package remote copies from repositories: on this machine, over http, https, ssh and
// git's own protocol, with the git program or without. It pushes to them with the
// program.
//
// Goals: one question tells whether a branch has moved; a remote costs bounded
// memory, disk and time, also a hostile or a silent one; credentials are sent to
// their own host only and appear in no message, argument or log; an error says the
// cause and the remedy.
//
// Non-goals: storing objects (see object), deciding when to fetch or push,
// submodules, bundles, transport helpers.
package remote
