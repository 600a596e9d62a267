package flush

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/gitsource/object"
)

// Memo remembers what files became by edits, so that a flush on another head makes only
// directories and commits anew where nobody else touched the files. The zero Memo is empty
// and may be used by several goroutines.
type Memo struct {
	mu    sync.Mutex
	known map[memoKey]memoValue
}

// maxMemo bounds the steps that a Memo knows.
const maxMemo = 20_000

// memoKey is a hash of a file and the edits that are written into it.
type memoKey [sha256.Size]byte

type memoValue struct {
	after   object.Hash
	results []edit.Result
}

// keyOf is the key of edits of a file whose contents are a blob.
func keyOf(path string, blob object.Hash, edits []edit.Edit, o edit.Options) memoKey {
	text, _ := json.Marshal(struct { // which texts, numbers and times always have
		Path    string
		Blob    object.Hash
		Edits   []edit.Edit
		Options edit.Options
	}{path, blob, edits, o})
	return sha256.Sum256(text)
}

func (m *Memo) get(key memoKey) (v memoValue, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok = m.known[key]
	return v, ok
}

func (m *Memo) put(key memoKey, v memoValue) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= maxMemo {
		m.known = map[memoKey]memoValue{}
	}
	m.known[key] = v
}
