package rest

import (
	"context"
	"io"
	"time"

	"github.com/repoglot/repoglot/catalog/store"
)

// Download is an answer that may be large: it is made in a snapshot of its own, and
// kept aside for the client (spool), so that neither memory nor the time for which
// the snapshot is held depend on the client.
type Download struct {
	ContentType, Filename string
	// BareName says that the name is sent without quotes where it can be, as Weblate
	// does for file/.
	BareName bool
	// Exact says that it may become older, so that only the very time of its last
	// change means that a client has it.
	Exact bool
	// Plan reads what there is to send, and checks again that it may be seen.
	Plan func(ctx context.Context, snap *store.Snapshot) (*DownloadPlan, error)
}

// DownloadPlan is what a download will be.
type DownloadPlan struct {
	// Tag is the ETag's; "" if none can be told beforehand. A short download has
	// that of its bytes instead, unless fixed is set.
	Tag   string
	Fixed bool
	// Modified is when it changed last; zero if that is not known.
	Modified time.Time
	// Write writes it.
	Write func(ctx context.Context, w io.Writer) error
}
