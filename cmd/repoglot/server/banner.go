package server

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxLinks bounds the addresses that serve prints.
const maxLinks = 12

// link names a component and one of its translations, if it can of another language than the
// source language.
type link struct {
	Project, Slug, Code string
	Imported            bool
}

func (s *supervisor) visible(ctx context.Context) ([]link, error) {
	var list []link
	err := s.engine.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		rows, err := snap.Components(ctx, "")
		for _, c := range rows {
			if c.Settings.Private(&c.Project) || err != nil {
				continue
			}
			l := link{Project: c.Project.Slug, Slug: c.Slug, Code: c.Settings.SourceLanguage, Imported: c.Imported}
			if c.Imported && len(list) < maxLinks {
				var all []catalog.Translation
				all, err = snap.Translations(ctx, c.ID)
				if at := slices.IndexFunc(all, func(t catalog.Translation) bool { return !t.IsSource }); at >= 0 {
					l.Code = all[at].Language
				}
			}
			list = append(list, l)
		}
		return err
	})
	return list, err
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
		switch {
		case !l.Imported:
			missing++
			continue
		case shown == maxLinks:
			continue
		case shown == 0:
			at := fmt.Sprintf("%s/api/translations/%s/%s/%s/", base, l.Project, l.Slug, l.Code)
			fmt.Fprintf(&b, "imported; try\n  %s\n  %sunits/\n  %schanges/\n", at, at, at)
		default:
			fmt.Fprintf(&b, "  %s/api/translations/%s/%s/%s/\n", base, l.Project, l.Slug, l.Code)
		}
		shown++
	}
	if missing > 0 {
		fmt.Fprintf(&b, "not imported, of %d components: %d; see %s/readyz for the reasons\n", len(list), missing, base)
	}
	return b.String()
}
