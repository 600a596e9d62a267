package stored

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Day holds the statistics of a translation at the end of a day.
type Day struct {
	// TranslationID is the translation.
	TranslationID int64
	// Day is midnight UTC. PutStatDay takes any time of the day.
	Day time.Time
	// Removed says that the file was removed; Stats are then zero.
	Removed bool
	// Stats are the statistics after the last change of the day.
	Stats catalog.Stats
}

// EncodeDay is the stored form of a day.
func EncodeDay(d *Day) []byte {
	data := []byte{Version}
	if d.Removed {
		return data
	}
	for _, n := range NumbersOf(Counts, &d.Stats) {
		data = binary.AppendVarint(data, *n)
	}
	return data
}

var errStatDay = errors.New("the statistics of a day are damaged: restore a backup, or move the database away and import anew")

// DecodeDay reads what EncodeDay wrote.
func DecodeDay(data []byte) (d Day, err error) {
	if data, err = Unversioned(data, errStatDay); err != nil {
		return d, err
	}
	if d.Removed = len(data) == 0; d.Removed {
		return d, nil
	}
	for _, n := range NumbersOf(Counts, &d.Stats) {
		v, size := binary.Varint(data)
		if size <= 0 {
			return d, errStatDay
		}
		*n, data = v, data[size:]
	}
	return d, nil
}
