package ingest

import (
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// lexicon remembers what is the same of a string wherever it stands, so that
// it is computed once for thousands of versions of files. It belongs to one
// goroutine.
//
// It holds two generations: what was not asked for in the last one is dropped
// with it.
type lexicon struct {
	young, old map[wording]*lexeme
	hasher     catalog.Hasher
	file       int // the number of the file that is read
}

// lexiconSize bounds a generation: a lexeme takes about 300 bytes.
const lexiconSize = 16_000

// wording is what a PO file says of a string's identity.
type wording struct {
	context, id, plural string
	hasPlural           bool
	cjk                 bool // how its words are counted
}

// lexeme is one string.
type lexeme struct {
	source, context string
	identity        catalog.Identity
	words, chars    int
	file            int // that had it last
	// odd says that another wording may have the same identity: forms are
	// joined by what one of them holds.
	odd bool

	// The last of its marks, and their fingerprint.
	marked   bool
	marks    marks
	metaMark int64
}

// marks are what makes Meta.
type marks struct {
	note, flags, previous string
	priority              int
}

func newLexicon() *lexicon { return &lexicon{young: make(map[wording]*lexeme)} }

// look finds the string of an entry. Its texts do not hold the file in memory.
func (l *lexicon) look(e *poparse.Entry, r *rules) *lexeme {
	key := wording{e.Context, e.ID, e.IDPlural, e.HasPlural, r.cjk}
	if found := l.young[key]; found != nil {
		return found
	}
	found := l.old[key]
	if found == nil {
		found = l.learn(e, r)
	}
	key.context, key.id, key.plural = found.context, found.source, ""
	if e.HasPlural {
		key.id, key.plural = found.source[:len(e.ID)], found.source[len(found.source)-len(e.IDPlural):]
	}
	if len(l.young) >= lexiconSize {
		l.old, l.young = l.young, make(map[wording]*lexeme, lexiconSize)
	}
	l.young[key] = found
	return found
}

// learn makes the lexeme of a string never seen.
func (l *lexicon) learn(e *poparse.Entry, r *rules) *lexeme {
	s := &lexeme{context: own(e.Context), source: own(e.ID)}
	if e.HasPlural {
		s.source = e.ID + catalog.FormSeparator + e.IDPlural
	}
	const half = "\x1e" // of catalog.FormSeparator
	s.odd = strings.Contains(e.ID, half) || strings.Contains(e.IDPlural, half)
	s.identity = l.hasher.Identity(s.source, s.context)
	s.words, s.chars = catalog.CountWords(s.source, r.cjk), catalog.CountChars(s.source)
	return s
}

// meta is metaPrint, which nearly always is that of the version before.
func (s *lexeme) meta(h *catalog.Hasher, u *catalog.Unit) int64 {
	m := marks{u.Note, u.Flags, u.PreviousSource, u.Priority}
	if !s.marked || m != s.marks {
		s.marked, s.metaMark = true, metaPrint(h, u)
		s.marks = marks{own(m.note), own(m.flags), own(m.previous), m.priority}
	}
	u.Note, u.Flags, u.PreviousSource = s.marks.note, s.marks.flags, s.marks.previous
	return s.metaMark
}
