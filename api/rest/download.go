package rest

import (
	"context"
	"io"
	"time"

	"github.com/repoglot/repoglot/catalog/store"
)

// Download is an answer that may be large. It is made in a snapshot of its own
// and spooled, so that a slow client costs neither memory nor a snapshot.
type Download struct {
	ContentType, Filename string
	// BareName says that the filename is sent without quotes where that is
	// possible, as Weblate does for file/.
	BareName bool
	// Exact says that the modification time may go back, so that a client's
	// copy is fresh only if it has the very same time.
	Exact bool
	// Plan reads what is to be sent, and checks again that the client may see
	// it.
	Plan func(ctx context.Context, snap *store.Snapshot) (*DownloadPlan, error)
}

// DownloadPlan is what a download will send.
type DownloadPlan struct {
	// Tag is the ETag without quotes; "" if it cannot be known before. A short
	// download has a hash of its bytes instead, unless Fixed is set.
	Tag   string
	Fixed bool
	// Modified is the time of the last change; zero if unknown.
	Modified time.Time
	// Write writes the download.
	Write func(ctx context.Context, w io.Writer) error
}
