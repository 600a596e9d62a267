// Package config reads the configuration file of repoglot.
//
// Goals: the struct [Config] is the contract and its field comments are the
// manual (docs/configuration.md is made from them, and a test holds both
// together); every mistake of a file is reported at once, one line each, with
// file, line, column and the remedy; the same file and environment always give
// the same Config.
//
// Non-goals: no network, no look at repositories, no reading of key files and
// no writing. A program that wants another configuration writes another file.
package config
