package unit

import (
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// stringCache keeps what is the same for a string in all files, so that it is
// computed once for thousands of versions of files. It belongs to one goroutine.
//
// It has two generations: the strings that were not asked for during the last
// one are dropped with it.
type stringCache struct {
	young, old map[stringKey]*cachedString
	hasher     catalog.Hasher
	file       int           // the number of the file that is read
	size       int           // bounds a generation
	bytes      int           // of the texts of young
	generation int           // how often young became old
	last       *cachedString // the one before
}

// stringCacheSize bounds a generation of the largest cache: a cachedString takes about
// 300 bytes. A cache for smaller files has room for the strings of two.
const (
	stringCacheSize = 16_000
	minStringCache  = 2_000
	// stringCacheBytes bounds the texts of a generation.
	stringCacheBytes = 8 << 20
)

// stringKey is what a PO file says about a string's identity.
type stringKey struct {
	context, id, plural string
	hasPlural           bool
	cjk                 bool // how its words are counted
}

// cachedString is one string.
type cachedString struct {
	stringKey
	source       string
	identity     catalog.Identity
	words, chars int
	file         int // that had it last
	// ambiguous says that another key may have the same identity: forms are
	// joined by what one of them holds.
	ambiguous  bool
	generation int           // of the cache that last had it in young
	next       *cachedString // what came after it in the file that had it last

	last *hashedMetadata // of the last version, or nil
}

// hashedMetadata is metadata of a string, which does not change.
type hashedMetadata struct {
	metadata
	meta, outlineKey int64
}

func newStringCache() *stringCache { return &stringCache{young: make(map[stringKey]*cachedString)} }

// begin begins a file of some entries.
func (c *stringCache) begin(entries int) {
	c.file, c.last = c.file+1, nil
	c.size = min(max(c.size, 2*entries, minStringCache), stringCacheSize)
}

// get finds the string of an entry, or adds it. Its texts do not keep the file
// in memory. The string that came next in another version is tried first.
func (c *stringCache) get(e *poparse.Entry, r *Rules) *cachedString {
	var found *cachedString
	if c.last != nil {
		found = c.last.next
	}
	key := stringKey{e.Context, e.ID, e.IDPlural, e.HasPlural, r.cjk}
	if found == nil || found.generation != c.generation || found.stringKey != key {
		found = c.find(key)
		if c.last != nil {
			c.last.next = found
		}
	}
	c.last = found
	return found
}

func (c *stringCache) find(key stringKey) *cachedString {
	if found := c.young[key]; found != nil {
		return found
	}
	found := c.old[key]
	if found == nil {
		found = c.compute(key)
	}
	if len(c.young) >= c.size || c.bytes > stringCacheBytes {
		c.old, c.young, c.bytes = c.young, make(map[stringKey]*cachedString, c.size), 0
		c.generation++
		found.next = nil // else a chain of old ones would stay
	}
	found.generation = c.generation
	c.bytes += len(found.context) + len(found.source)
	c.young[found.stringKey] = found
	return found
}

// compute makes the cachedString of a string never seen.
func (c *stringCache) compute(key stringKey) *cachedString {
	s := &cachedString{stringKey: key, ambiguous: strings.IndexByte(key.id, halfSeparator) >= 0 || strings.IndexByte(key.plural, halfSeparator) >= 0}
	s.context, s.source = strings.Clone(key.context), strings.Clone(key.id)
	s.id, s.plural = s.source, ""
	if key.hasPlural {
		s.source = key.id + catalog.FormSeparator + key.plural
		s.id, s.plural = s.source[:len(key.id)], s.source[len(s.source)-len(key.plural):]
	}
	s.identity = c.hasher.Identity(s.source, s.context)
	s.words, s.chars = catalog.CountText(s.source, key.cjk)
	return s
}

// fingerprint returns some metadata with Unit.Meta and the outlineKey of the string.
// It nearly always equals the metadata of the version before.
func (s *cachedString) fingerprint(m *metadata, h *catalog.Hasher) *hashedMetadata {
	if s.last == nil || *m != s.last.metadata {
		same := m.noteAndFlags(h)
		s.last = &hashedMetadata{m.detached(), m.hash(same, h), outlineKey(s.identity, same)}
	}
	return s.last
}
