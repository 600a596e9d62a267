package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog/store"
)

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
	if p.written.Load()+bytes > p.s.quotas.Growth {
		return store.ErrTooMuch // growthError explains it
	}
	return nil
}

// tooManyComponents is the error of a discovery.
func (q *Quotas) tooManyComponents(found int) error {
	return &errQuota{fmt.Sprintf("it finds more than %d components, which quotas.components allows (%d so far): narrow its filemask, or raise it", q.Components, found)}
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
