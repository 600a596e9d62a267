// Package forge opens and updates requests to merge a branch, on GitHub, GitLab, Gitea
// and Forgejo, through their REST APIs.
//
// Goals: one open request for each branch, updated in place; a token goes to the
// configured address only; answers are bounded, and say what a maintainer can do;
// limits of the forge are obeyed by whoever calls.
//
// Non-goals: pushing the branch (see remote), merging, reviews, comments, deciding when.
//
// The APIs are those of docs.github.com/en/rest/pulls (version 2022-11-28, which GitHub
// Enterprise Server has too), docs.gitlab.com/api/merge_requests (v4), and the Swagger
// descriptions of Gitea and Forgejo (v1), which are the same here.
package forge
