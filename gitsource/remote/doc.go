// Package remote copies from repositories: on this machine, over http, https, ssh and
// git's own protocol, with the git program or without, and pushes to them.
//
// Goals: one question tells whether a branch has moved; a remote costs bounded memory, disk and
// time, also a hostile or a silent one; credentials are sent to their own host only and appear
// in no message, argument or log; an error says the cause and the remedy.
//
// Non-goals: storing objects (see object), when to fetch or push, submodules, bundles, helpers.
//
// # Why
//
// Without the program, go-git's sessions of HTTP, made for each call since its table of protocols
// is global, carry all four protocols (docs/design.md), behind a reader that bounds refs and
// silence. They take over, too, where the program cannot be bounded or would show a secret:
// git://, addresses with a query, ssh with a password.
//
// A local repository may belong to somebody else, who may have made it to show files that
// only the server may read. So its owner must be the server's user, or it is listed in
// safe_directories; what it names (.git, commondir, alternates, its folders of objects and
// refs) must belong to the same owner and lie outside data_dir. Files are opened below
// their folder, without waiting for a pipe, and must be regular. A directory that is
// swapped between check and use is not found out, nor by git.
//
// The program gets a list of variables and no configuration but ours, looks for no repository
// where it runs, and checks what it fetches (fetch.fsckObjects): repositories are exported to
// others, whom git protects so. On Linux prlimit(2) bounds it right after it begins; a program
// that forks within microseconds would escape, except for the limits of the systemd unit.
//
// A push goes by the id of a commit, forward only, or with --force-with-lease where the branch
// is ours. A path is pushed to by the program alone, since hooks must run there. What the remote
// says becomes an error: the branch has moved (fetch and derive anew; also a lock or a wrong old
// value, as of pushes that meet), declined (no use in trying again), access, network.
package remote
