package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog/store"
)

// memory bounds what pulls hold at a time. Most steps hold little, and are bounded by
// the sizes of caches and batches. What one commit brings is counted while it is read
// (meter): a step that holds more than small waits for a turn, of which there are few,
// and holds up to large in it.
type memory struct {
	total, small, large int64
	turns               chan struct{}
}

// The bounds of memory.
const (
	// defaultMemory is Options.Memory if it is not set.
	defaultMemory = 4 << 30
	// fullMemory is the total from which on caches and batches have their full sizes.
	fullMemory = 1 << 30
	maxSmall   = 256 << 20
	maxTurns   = 4
	turnMemory = 1 << 30 // of a turn, from which on there is a second one
)

func newMemory(total int64) *memory {
	if total <= 0 {
		total = defaultMemory
	}
	large := total / 4 * 3
	turns := min(max(large/turnMemory, 1), maxTurns)
	return &memory{
		total: total, small: min(total/16, maxSmall), large: large / turns,
		turns: make(chan struct{}, turns),
	}
}

// part is the part of a cache's full size that the memory allows.
func (m *memory) part(full int64) int64 {
	if m.total >= fullMemory {
		return full
	}
	return max(full/8, int64(float64(full)*float64(m.total)/fullMemory))
}

// meter counts what a pull holds in memory that no cache bounds. It belongs to one
// goroutine.
type meter struct {
	*memory
	kept, held int64 // since earlier steps; by the present one
	most       int64 // what both may be
	turn       bool  // it has one
	// wait, if set, waits for a turn in the middle of a step.
	wait func() error
}

func newMeter(m *memory) *meter { return &meter{memory: m, most: m.small} }

// begin begins a step.
func (m *meter) begin() { m.held = 0 }

// take counts bytes that the step will hold. The error is errMemory if that is more
// than it may.
func (m *meter) take(n int64) error {
	m.held += n
	return m.room(0)
}

// keep is take for bytes that later steps hold, too.
func (m *meter) keep(n int64) error {
	m.kept += n
	return m.room(0)
}

// room returns errMemory if the step may not hold n bytes more.
func (m *meter) room(n int64) error {
	switch {
	case m.kept+m.held+n <= m.most:
		return nil
	case !m.turn && m.wait != nil:
		if err := m.wait(); err != nil {
			return err
		}
		return m.room(n)
	}
	return errMemory
}

// takeTurn waits until the pull may hold up to large, unless it may already. Whoever has a
// turn waits for no other, nor may it begin in a transaction, for which others with a
// turn wait.
func (m *meter) takeTurn(ctx context.Context) error {
	if m.turn {
		return nil
	}
	select {
	case m.turns <- struct{}{}:
		m.turn, m.most = true, m.large
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endTurn ends the turn, if there is one.
func (m *meter) endTurn() {
	if m.turn {
		<-m.turns
		m.turn, m.most = false, m.small
	}
}

// errMemory says that a step would hold more than it may.
var errMemory = errors.New("the commit needs too much memory")

// tooMuch is errMemory for people.
func (m *memory) tooMuch(what string) string {
	return fmt.Sprintf("%s more than %d MiB of memory, which is what one commit may take here: give repoglot more memory, or exclude files by filemask or max_file_size", what, m.large>>20)
}

// pastProblem is the path of the problem of a component that was not replayed up to the
// head.
const pastProblem = "history"

// What a file takes besides its bytes while it is read (TestFileMemory).
const (
	entryBytes  = 640 // an entry and its unit
	unitBytes   = 288 // the unit alone
	partsBytes  = 16  // a unit of a file in parts
	usualFactor = 8   // the memory of usual files in multiples of their length
)

// fileBytes is the memory that a file takes while it is read as a whole, at most. An
// entry has four quotes at least.
func fileBytes(data []byte) int64 {
	return 2*int64(len(data)) + entryBytes*int64(bytes.Count(data, []byte{'"'})/4)
}

// weight is the length of a usual file that takes as much memory.
func weight(data []byte) int64 { return max(int64(len(data)), fileBytes(data)/usualFactor) }

// exactBytes is fileBytes without the quotes of long and wrapped strings. It takes longer.
func exactBytes(data []byte, entry int64) int64 {
	n := bytes.Count(data, []byte("msgid")) + bytes.Count(data, []byte("m\x00s\x00g\x00i\x00d"))
	return 2*int64(len(data)) + entry*int64(n)
}

// Quotas bound what one repository may bring, so that one that was made to hurt, or
// grew by mistake, takes nothing from the others. Where one is exceeded, what was
// served before is still served, and the problem is the component's. A zero field is
// its default.
type Quotas struct {
	// Components bounds the components that one discovery makes.
	Components int
	// Files bounds the files of one component.
	Files int
	// Units bounds the strings of one component, in all languages.
	Units int64
	// Growth bounds the bytes that one pull writes to the database.
	Growth int64
}

// orDefault replaces fields that are zero by quotas that no known project meets.
func (q Quotas) orDefault() Quotas {
	return Quotas{
		Components: cmp.Or(q.Components, 20_000), Files: cmp.Or(q.Files, 200_000),
		Units: cmp.Or(q.Units, 50_000_000), Growth: cmp.Or(q.Growth, 16<<30),
	}
}

// errQuota says that a repository exceeds a quota.
type errQuota struct{ text string }

func (e *errQuota) Error() string { return e.text }

// checkFiles returns an error if a component has too many files.
func (q *Quotas) checkFiles(c *component) error {
	if n := len(c.files); n > q.Files {
		return &errQuota{fmt.Sprintf("it has %d files; quotas.files allows %d: narrow the filemask, or raise it", n, q.Files)}
	}
	return nil
}

// checkUnits returns an error if the translations of a component, which are loaded,
// have too many strings.
func (q *Quotas) checkUnits(c *component) error {
	var units int64
	for _, t := range c.translations {
		if !t.Removed {
			units += t.Stats.Total.Units
		}
	}
	return tooManyUnits(units, q.Units)
}

func tooManyUnits(n, most int64) error {
	if n > most {
		return &errQuota{fmt.Sprintf("it has %d strings; quotas.units allows %d: narrow the filemask, or raise it", n, most)}
	}
	return nil
}

// roomToGrow returns an error if the pull would write too much with so many bytes more,
// which need not be all that it writes.
func (p *pull) roomToGrow(bytes int64) error {
	if p.written.Load()+bytes > p.s.Quotas.Growth {
		return store.ErrTooMuch // growthError explains it
	}
	return nil
}

// growthError explains an error of a step that wrote too much.
func (q *Quotas) growthError(err error) error {
	if errors.Is(err, store.ErrTooMuch) {
		return &errQuota{fmt.Sprintf("the pull writes more than %d MiB to the database, which quotas.growth allows: exclude files, give history a bound, or raise it", q.Growth>>20)}
	}
	return err
}

// maxMessage bounds the text of an error that is stored, shown or logged, maxErrors
// the components that an error of a branch names: a repository can have any number of
// components and paths of any length.
const (
	maxMessage = 1000
	maxErrors  = 10
)

// shortened cuts the text of an error.
func shortened(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return fmt.Sprintf("%s … %s", strings.ToValidUTF8(text[:maxMessage/2], ""), strings.ToValidUTF8(text[len(text)-maxMessage/2:], ""))
}
