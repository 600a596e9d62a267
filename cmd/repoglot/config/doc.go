// Package config reads the configuration file of repoglot.
//
// Goals: the struct [Config] is the contract and its field comments are the manual
// (docs/configuration.md is generated from them, and a test compares both); every
// mistake of a file is reported at once, one line each, with file, line, column and
// the remedy; the same file and environment always give the same Config.
//
// Non-goals: it uses no network, reads no repositories and no key files, and writes
// nothing.
package config
