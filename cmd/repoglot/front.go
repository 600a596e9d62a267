package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxLinks bounds what is printed at the start of a server.
const maxLinks = 12

// front answers / with a page for people or with links for programs.
func (s *supervisor) front() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			writeJSON(w, http.StatusOK, map[string]any{"name": "repoglot", "version": programVersion(), "api": "/api/", "readyz": "/readyz"})
			return
		}
		list, err := s.cards(r.Context())
		if err != nil {
			s.log.Error("front page", "error", err)
			http.Error(w, "The store cannot be read.", http.StatusInternalServerError)
			return
		}
		body, err := page.Home(list)
		if err != nil {
			s.log.Error("front page", "error", err)
			http.Error(w, "The page cannot be made.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", page.Policy)
		_, _ = w.Write(body) // the client has gone
	})
}

// cards are the components that everybody may see; those that the front page
// shows with how far they are.
func (s *supervisor) cards(ctx context.Context) ([]page.Component, error) {
	var list []page.Component
	err := s.eachVisible(ctx, func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		card := page.Component{Project: c.Project.Slug, Slug: c.Slug, ProjectName: c.Project.Settings.Name, Name: c.Settings.Name, Imported: c.Imported}
		if c.Imported && len(list) < page.MaxHome {
			sums, err := snap.Sums(ctx, store.SumQuery{Components: []int64{c.ID}, Sources: true})
			if err != nil {
				return err
			}
			var all store.Sum
			for i := range sums {
				all.Add(sums[i])
			}
			card.Languages = int(all.Translations)
			card.Percent = float64(catalog.Percent(all.Stats.Translated.Units, all.Stats.Total.Units, 1000)) / 10
		}
		list = append(list, card)
		return nil
	})
	return list, err
}

// link names a component, and a translation of it if it has one beside the
// source.
type link struct {
	Project, Slug, Source, Code string
	Imported                    bool
}

// visible lists the components that everybody may see.
func (s *supervisor) visible(ctx context.Context) ([]link, error) {
	var list []link
	err := s.eachVisible(ctx, func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) (err error) {
		l := link{Project: c.Project.Slug, Slug: c.Slug, Source: c.Settings.SourceLanguage, Imported: c.Imported}
		if c.Imported && len(list) < maxLinks {
			l.Code, err = sampleLanguage(ctx, snap, c.ID)
		}
		list = append(list, l)
		return err
	})
	return list, err
}

// eachVisible hands over the components that everybody may see.
func (s *supervisor) eachVisible(ctx context.Context, each func(context.Context, *store.Snapshot, *store.ComponentRow) error) error {
	err := s.engine.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		rows, err := snap.Components(ctx, "")
		if err != nil {
			return err
		}
		for i := range rows {
			if private(rows[i].Project.Private(), rows[i].Settings.Access) {
				continue
			}
			if err := each(ctx, snap, &rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing components: %w", err)
	}
	return nil
}

// sampleLanguage is the code of a component's first translation beside the
// source, "" if there is none.
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

// origin is the address under which a server on this machine reaches l.
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

// greeting is printed at the start: where the server is on this machine, and
// what it will serve below its public address.
func greeting(local, base string, p *plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "repoglot serves on %s/\n", local)
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

// invitation is printed when the first round of pulls is over: what to try.
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
