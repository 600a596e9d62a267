package push_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// serve lets a server run for a while, which looks every minute whether edits are due. The
// repository is there, is away, or refuses what is pushed.
func (m *model) serve() {
	m.quiet = true
	defer func() { m.quiet = false }()
	switch m.rnd.IntN(3) {
	case 0:
		m.serveWell()
	case 1:
		gittest.Must(m.t, os.Rename(m.up.Dir, m.up.Dir+".away"))
		if asks, _ := m.minutes(30); len(asks) > 1 {
			m.t.Errorf("step %d: a repository that is away was asked at %v", m.n, asks)
		}
		m.look() // as pulls do by the clock
		gittest.Must(m.t, os.Rename(m.up.Dir+".away", m.up.Dir))
		if asks, _ := m.minutes(5); len(asks) > 0 {
			m.t.Errorf("step %d: pulls have pauses of their own, and it was asked at %v", m.n, asks)
		}
		m.look()
	default:
		m.hook(true)
		_, refused := m.minutes(40)
		m.hook(false)
		for i, pause := 1, time.Minute; i < len(refused); i, pause = i+1, 2*pause {
			if refused[i].Sub(refused[i-1]) < pause {
				m.t.Errorf("step %d: pushes were refused at %v: the pauses do not grow", m.n, refused)
			}
		}
	}
}

// serveWell: ten minutes after the pauses of what failed before, all edits are out that can
// be written, and the repository was not asked for the others every minute.
func (m *model) serveWell() {
	m.texts += 2
	m.enter("String 0", fmt.Sprint("\nours ", m.texts-1), catalog.StateTranslated)
	for range 6 { // after which what is held has long pauses
		m.Clock = m.Clock.Add(time.Hour)
		m.minutes(1)
	}
	m.enter("String 2", fmt.Sprint("ours ", m.texts), catalog.StateTranslated)
	asks, _ := m.minutes(10)
	requested, err := m.pusher.Requested(m.t.Context(), m.Branch) // which is looked at every five minutes
	gittest.Must(m.t, err)
	if len(asks) > 6 && !requested {
		m.t.Errorf("step %d: the repository was asked at %v", m.n, asks)
	}
	m.settled()
}

// minutes lets a server run, and returns when it asked the repository, and when that refused
// a push.
func (m *model) minutes(n int) (asks, refused []time.Time) {
	m.t.Helper()
	for range n {
		m.Clock = m.Clock.Add(time.Minute)
		now := m.Clock
		if !m.ready() {
			continue
		}
		asks = append(asks, now)
		if m.look() {
			refused = append(refused, now)
		}
	}
	return asks, refused
}

// ready reports whether edits are to be pushed now.
func (m *model) ready() bool {
	m.t.Helper()
	ready, err := m.pusher.Ready(m.t.Context(), m.Branch)
	gittest.Must(m.t, err)
	return ready
}

// look pulls, and pushes what is due, as a server does; it reports whether a push was refused.
func (m *model) look() (refused bool) {
	m.t.Helper()
	report, err := m.Syncer.Sync(m.t.Context(), m.Branch)
	reached := err == nil || report.Reached()
	if m.pusher.Reached(m.t.Context(), m.Branch.Key, reached); !reached || !m.ready() {
		return false
	}
	_, err = m.pusher.Try(m.t.Context(), m.Branch, m.destination, func(*store.BranchComponent) bool { return true })
	if refused = errors.Is(err, remote.ErrDeclined); err != nil && !refused {
		m.t.Fatalf("step %d: %v", m.n, err)
	}
	m.readMain()
	return refused
}
