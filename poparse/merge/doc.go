// Package merge merges PO files by meaning, string by string and field by field, and says in
// which strings two files differ.
//
// Goals: no text that a side has and the base has not is lost, and none gets under a source
// that its author did not see; conflicts only where both sides wrote different texts; the
// bytes of what nobody changed stay; one table for git's merge driver, for edits on a server
// and for comparisons.
//
// Non-goals: git, and files of several domains, which are left to git's merge of lines
// ([ErrUnreadable]).
//
// # The table
//
// A string is a msgctxt and msgid; a row of [Table] has its entries in the three files. The
// first line that fits counts. "One side" and "the other" are either; a text is all forms of a
// msgstr, a mark is a fuzzy that one side set on the base's text, and the newer template is the
// one with the later POT-Creation-Date, ours if none is later. TestTable has a case by each name.
//
//	any field (text, comments, extracted comments, references, flags, order, line ends,
//	each line of the header, the string itself)
//	  changed by one side            that side's, also if emptied, marked or older
//	  both the same                  it, in the bytes that differ from the base's
//
//	the text, where both changed it
//	  confirmed and fuzzy            one text: confirmed
//	  translated and untranslated    translated, also if fuzzy
//	  mark and new text              the new text
//	  added translated and fuzzy     both added the string: translated; a fuzzy text that the
//	                                 base has nowhere stays in a comment
//	  added with a guess             both added it, and a fuzzy text is one that the base has:
//	                                 the other text
//	  different texts                a conflict, or what Options.Favor says
//	  other plural forms             the text is of a side whose header has another number of
//	                                 them than the merged one: it, fuzzy
//
//	the source (msgid, msgctxt, msgid_plural), where one side changed it
//	  reworded and new text          the new msgid gets the other side's text, fuzzy, with "#|"
//	  reworded and same text         the new msgid has the text that its side gave it
//	  reworded and translated        its translation; the other side's new text is kept as "#~"
//	  ambiguous                      as removed and changed
//	  plural and new text            the text is fuzzy, with "#|"; a conflict if the side with
//	                                 the new source has a translation, too
//
//	the string itself
//	  removed and unchanged          removed, or obsolete
//	  removed and changed            kept as "#~" with the changed text
//	  obsolete and changed           "#~" with the changed text
//	  revived and unchanged          live
//	  obsolete and removed           "#~"
//
//	other fields, where both changed them
//	  comments                       lines of both, without those that either side removed
//	  newer template                 extracted comments, references, flags and order are its
//	  header dates                   newest PO-Revision-Date with its Last-Translator, newest
//	                                 POT-Creation-Date
//	  header fields                  Project-Id-Version and Report-Msgid-Bugs-To of the newer
//	                                 template, all others of the newest PO-Revision-Date
//	  header plural forms            a conflict
//
// Strings that only one side has are placed after the string that they follow there.
package merge
