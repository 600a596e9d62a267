// Package compared has the groups of strings that the checks inconsistent and reused compare:
// pure rules of who is in which group, by hashes.
package compared
