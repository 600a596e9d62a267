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
	file       int     // the number of the file that is read
	generation int     // how often young became old
	last       *lexeme // the one before
}

// lexiconSize bounds a generation: a lexeme takes about 300 bytes.
const lexiconSize = 16_000

// halfSeparator is half of catalog.FormSeparator: only a form that holds it may
// be taken for two.
const halfSeparator = '\x1e'

// wording is what a PO file says of a string's identity.
type wording struct {
	context, id, plural string
	hasPlural           bool
	cjk                 bool // how its words are counted
}

// lexeme is one string.
type lexeme struct {
	wording
	source       string
	identity     catalog.Identity
	words, chars int
	file         int // that had it last
	// odd says that another wording may have the same identity: forms are
	// joined by what one of them holds.
	odd        bool
	generation int     // of the lexicon that last had it in young
	next       *lexeme // what came after it in the file that had it last

	// The last of its marks, and their fingerprint.
	marked      bool
	marks       marks
	metaMark    int64
	outlineMark int64
}

// marks are what makes Meta.
type marks struct {
	note, flags, previous string
	priority, remark      int
}

func newLexicon() *lexicon { return &lexicon{young: make(map[wording]*lexeme)} }

// look finds the string of an entry. Its texts do not hold the file in memory.
// The one that came after the last one in another version is tried first.
func (l *lexicon) look(e *poparse.Entry, r *rules) *lexeme {
	var found *lexeme
	if l.last != nil {
		found = l.last.next
	}
	key := wording{e.Context, e.ID, e.IDPlural, e.HasPlural, r.cjk}
	if found == nil || found.generation != l.generation || found.wording != key {
		found = l.find(key)
		if l.last != nil {
			l.last.next = found
		}
	}
	l.last = found
	return found
}

func (l *lexicon) find(key wording) *lexeme {
	if found := l.young[key]; found != nil {
		return found
	}
	found := l.old[key]
	if found == nil {
		found = l.learn(key)
	}
	if len(l.young) >= lexiconSize {
		l.old, l.young = l.young, make(map[wording]*lexeme, lexiconSize)
		l.generation++
		found.next = nil // else a chain of old ones would stay
	}
	found.generation = l.generation
	l.young[found.wording] = found
	return found
}

// learn makes the lexeme of a string never seen.
func (l *lexicon) learn(key wording) *lexeme {
	s := &lexeme{wording: key, odd: strings.IndexByte(key.id, halfSeparator) >= 0 || strings.IndexByte(key.plural, halfSeparator) >= 0}
	s.context, s.source = own(key.context), own(key.id)
	s.id, s.plural = s.source, ""
	if key.hasPlural {
		s.source = key.id + catalog.FormSeparator + key.plural
		s.id, s.plural = s.source[:len(key.id)], s.source[len(s.source)-len(key.plural):]
	}
	s.identity = l.hasher.Identity(s.source, s.context)
	s.words, s.chars = catalog.CountText(s.source, key.cjk)
	return s
}

// mark makes the fingerprints of a unit's note and flags, which nearly always
// are those of the version before.
func (s *lexeme) mark(h *catalog.Hasher, u *catalog.Unit) (meta, outline int64) {
	m := marks{u.Note, u.Flags, u.PreviousSource, u.Priority, u.TranslatorBytes}
	if !s.marked || m != s.marks {
		s.marked, s.metaMark, s.outlineMark = true, metaPrint(h, u), outlineMark(h, u)
		s.marks = marks{own(m.note), own(m.flags), own(m.previous), m.priority, m.remark}
	}
	u.Note, u.Flags, u.PreviousSource = s.marks.note, s.marks.flags, s.marks.previous
	return s.metaMark, s.outlineMark
}
