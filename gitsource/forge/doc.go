// Package forge opens and updates requests to merge a branch, on GitHub, GitLab, Gitea
// and Forgejo, through their REST APIs.
//
// Goals: one open request for each branch, updated in place; a list of those of others; a
// token goes to the configured address only; answers are bounded, and say what a maintainer
// can do; limits of the forge are obeyed by whoever calls.
//
// Non-goals: pushing the branch (see remote), merging, reviews, comments, deciding when.
//
// The APIs are those of docs.github.com/en/rest/pulls (version 2022-11-28, which GitHub
// Enterprise Server has too), docs.gitlab.com/api/merge_requests (v4), and the Swagger
// descriptions of Gitea and Forgejo (v1), which are the same here.
//
// Redirects are not followed, answers are read up to 8 MiB, and the address of a request's
// page is kept only if it is on the forge. A limit is an error with the time to wait, so
// the caller's clock decides and nothing sleeps. Requests of forks that have a branch of the
// same name are not ours. Gitea and Forgejo cannot be asked for one branch: their lists are
// read up to 1,000 open requests. A request that is gone refuses nothing: if the list can be
// read, it was removed, and another one is opened; if not, the token sees nothing, and
// everything stays as it is. Texts are in code spans, since no forge looks for @names,
// #numbers, links or HTML there.
package forge
