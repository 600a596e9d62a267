package server

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/repoglot/repoglot/catalog/store"
)

// maxLinks bounds the addresses that serve prints.
const maxLinks = 12

// link names a component and one of its translations: Code is "" if it has only
// the source language.
type link struct {
	Project, Slug, Source, Code string
	Imported                    bool
}

// visible lists the public components.
func (s *supervisor) visible(ctx context.Context) ([]link, error) {
	var list []link
	err := s.engine.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		rows, err := snap.Components(ctx, "")
		for _, c := range rows {
			if c.Settings.Private(&c.Project) || err != nil {
				continue
			}
			l := link{Project: c.Project.Slug, Slug: c.Slug, Source: c.Settings.SourceLanguage, Imported: c.Imported}
			if c.Imported && len(list) < maxLinks {
				l.Code, err = sampleLanguage(ctx, snap, c.ID)
			}
			list = append(list, l)
		}
		return err
	})
	return list, err
}

// sampleLanguage is the code of a component's first translation other than the
// source language; "" if it has none.
func sampleLanguage(ctx context.Context, snap *store.Snapshot, component int64) (string, error) {
	translations, err := snap.Translations(ctx, component)
	if err != nil {
		return "", err
	}
	for i := range translations {
		if !translations[i].IsSource {
			return translations[i].Language, nil
		}
	}
	return "", nil
}

// origin is the address of a listener for clients on this machine.
func origin(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String()
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// greeting is printed at the start: the address of the server on this machine,
// the folder of its data, and what it will serve below its public address.
func greeting(local, base, dataDir string, p *Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "repoglot serves on %s/ and keeps its data in %s\n", local, dataDir)
	list := p.public()
	for i, c := range list {
		if i == maxLinks {
			fmt.Fprintf(&b, "  and %d more: %s/api/components/\n", len(list)-i, base)
			break
		}
		if strings.Contains(c.Spec.Slug, "{component}") {
			fmt.Fprintf(&b, "  %s/api/projects/%s/components/\n", base, c.Spec.Project)
			continue
		}
		fmt.Fprintf(&b, "  %s/api/components/%s/%s/\n", base, c.Spec.Project, c.Spec.Slug)
	}
	return b.String()
}

// invitation is printed after the first round of pulls: addresses to try.
func invitation(base string, list []link) string {
	var b strings.Builder
	missing, shown := 0, 0
	for _, l := range list {
		switch code := cmp.Or(l.Code, l.Source); {
		case !l.Imported:
			missing++
			continue
		case shown == maxLinks:
			continue
		case shown == 0:
			at := fmt.Sprintf("%s/api/translations/%s/%s/%s/", base, l.Project, l.Slug, code)
			fmt.Fprintf(&b, "imported; try\n  %s\n  %sunits/\n  %schanges/\n", at, at, at)
		default:
			fmt.Fprintf(&b, "  %s/api/translations/%s/%s/%s/\n", base, l.Project, l.Slug, code)
		}
		shown++
	}
	if missing > 0 {
		fmt.Fprintf(&b, "not imported, of %d components: %d; see %s/readyz for the reasons\n", len(list), missing, base)
	}
	return b.String()
}
