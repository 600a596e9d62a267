// Package poparse reads PO and POT files, the translation files of GNU
// gettext, into entries with position, flags and comments, and writes them back.
//
// Goals: read every file that GNU gettext 0.21 to 0.26 reads (gettext manual,
// section "The Format of PO Files") and keep everything that a catalog can use;
// decide in one documented way where parsers differ (docs/po.md); say exactly
// where and why a file cannot be read; stay bounded in time and memory on hostile
// input; be fast, as a server imports millions of entries; write a file so that
// only the changed parts differ, in the form of gettext's msgcat.
//
// Non-goals: translation lookup, plural evaluation, knowledge of repositories,
// languages or quality checks. Encodings that do not contain ASCII, except UTF-16,
// are refused.
//
// # How it works
//
// [Parse] decodes the whole file first, because a trail byte of CP932 or Big5
// can look like a backslash, and scans the text by index. A string on one line
// without escapes is a substring of that text; all other strings are built in
// shared chunks. So every string of a [File] may keep the whole text alive: clone
// the strings that must outlive it. Entries are in blocks of about a hundred, and
// each has room for one translation; a block is cleared just before it is filled.
// A [Reader] uses blocks again, and uses UTF-8 input without a copy.
//
// [Errors] reads a broken file again, slowly, and continues after each error at
// the next entry.
//
// [File.WriteTo] reads the text again and records where all entries are. It
// compares them with the File, and writes the bytes read for the parts that are
// equal. So a File has no bookkeeping and is changed by assignment. Package
// linebreak wraps lines as gettext does.
//
// Where this package and gettext differ is in docs/po.md#differences-from-gettext.
package poparse
