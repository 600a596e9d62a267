// Package poparse reads PO and POT files, the translation files of GNU
// gettext, into entries with position, flags and comments, and writes them back.
//
// Goals: read whatever GNU gettext 0.21 to 0.26 reads (gettext manual,
// section "The Format of PO Files") and lose nothing of it that a catalog can
// use; decide in one documented way wherever parsers differ
// (po-semantics.md); say exactly where and why a file cannot be read; stay
// bounded in time and memory on hostile input; be fast, as a server imports
// millions of entries; write a file so that only what was changed differs, in the
// form that gettext's msgcat gives it.
//
// Non-goals: translation lookup, plural evaluation, knowledge of repositories,
// languages or quality checks. Encodings that ASCII is not a part of, other
// than UTF-16, are refused.
//
// # How it works
//
// [Parse] decodes the whole file first, because a trail byte of CP932 or Big5
// can look like a backslash, and scans the text by index. Strings that stand
// on one line without escapes are substrings of that text; all others are
// built in shared chunks. So every string of a [File] may keep the whole text
// alive: clone what is to outlive it. Entries stand in blocks of some hundred, each
// with room for its one translation; a block is cleared when it is about to be
// filled. A [Reader] uses them again, and takes UTF-8 as it is, without a copy.
//
// [Errors] reads a broken file once more, slowly, and finds its way from each
// error to the next entry.
//
// [File.WriteTo] reads the text once more, this time with the places of all
// entries, compares them with what the File says now, and writes the bytes read
// for whatever is equal. So a File carries no bookkeeping, and is changed by
// assignment. Lines are wrapped by UAX #14 as gettext's libunistring has it.
//
// # Where gettext 0.21 and this package differ
//
//   - a byte order mark is skipped, UTF-16 is decoded;
//   - several "#," lines of one entry are merged, "#=" lines are flags
//     (gettext 0.25);
//   - duplicates, repeated headers, plural indices out of order or with gaps
//     and obsolete entries equal to live ones are warnings or nothing;
//   - U+0004 is allowed in strings, NUL becomes U+FFFD with a warning;
//   - "# File: x, line: 1" (Solaris) is a comment, not a reference;
//   - "#: file.c : 12", with blanks, is three references, not one;
//   - "range: fuzzy", with a word where the numbers must be, is the flag fuzzy;
//   - plural indices above 31 are errors;
//   - a backslash at the end of a line does not join lines: it is an error, and
//     nothing special in a comment;
//   - bytes above 0x7F without a declared charset are UTF-8 or ISO-8859-1;
//   - charsets that golang.org/x/text does not know are refused.
package poparse
