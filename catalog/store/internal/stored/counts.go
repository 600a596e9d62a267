package stored

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Count is a count of catalog.Stats. The table translations has three columns for it:
// its name for units, with _words for their words, and with _chars for their characters.
type Count struct {
	Column string
	Of     func(*catalog.Stats) *catalog.Count
	When   string // which units u it counts, for verify
}

// Counts are the counts of a translation, wherever the store has them: in the columns
// of translations and in their sums, in the blobs of stat_days, whose order this is, and in
// what verify counts.
var Counts = []Count{
	{"total", func(s *catalog.Stats) *catalog.Count { return &s.Total }, "1 = 1"},
	{"translated", func(s *catalog.Stats) *catalog.Count { return &s.Translated }, fmt.Sprintf("u.state >= %d", catalog.StateTranslated)},
	{"fuzzy", func(s *catalog.Stats) *catalog.Count { return &s.Fuzzy }, fmt.Sprintf("u.state = %d", catalog.StateFuzzy)},
	{"readonly", func(s *catalog.Stats) *catalog.Count { return &s.ReadOnly }, fmt.Sprintf("u.state = %d", catalog.StateReadOnly)},
	{"failing", func(s *catalog.Stats) *catalog.Count { return &s.Failing }, "EXISTS (SELECT 1 FROM failing f WHERE f.unit_id = u.id)"},
}

// FileCounts are those that follow from a file; checks count the others.
var FileCounts = Counts[:len(Counts)-1]

// Columns lists the columns of counts, each as format has it.
func Columns(list []Count, format string) []string {
	var columns []string
	for _, c := range list {
		for _, of := range []string{"", "_words", "_chars"} {
			columns = append(columns, fmt.Sprintf(format, c.Column+of))
		}
	}
	return columns
}

// ColumnList is Columns with commas.
func ColumnList(list []Count, format string) string {
	return strings.Join(Columns(list, format), ", ")
}

// NumbersOf returns pointers to the numbers of s, in the order of Columns.
func NumbersOf(list []Count, s *catalog.Stats) []*int64 {
	numbers := make([]*int64, 0, 3*len(list))
	for _, c := range list {
		n := c.Of(s)
		numbers = append(numbers, &n.Units, &n.Words, &n.Chars)
	}
	return numbers
}

// ScanOf are NumbersOf as a scan takes them.
func ScanOf(list []Count, s *catalog.Stats) []any {
	dest := make([]any, 0, 3*len(list))
	for _, n := range NumbersOf(list, s) {
		dest = append(dest, n)
	}
	return dest
}

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
