package resource

import (
	"cmp"
	"context"
	"crypto/sha1"
	_ "embed" // openapi.yaml
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

func getRoot(_ context.Context, _ *store.Snapshot, r *rest.Request) (any, error) {
	list := func(name string) string { return r.Link.API(wire.Path("api", name)) }
	var o wire.Object
	for _, name := range strings.Fields("users groups roles projects components translations memory languages component-lists changes units screenshots addons") {
		o = append(o, name, list(name))
	}
	return o, nil
}

// getServerMetrics answers clients that show a token, as Weblate does. While the server has no
// tokens, any will do: the answer says nothing that the lists do not.
func getServerMetrics(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	if !rest.AccessOf(ctx).Authenticated() {
		return nil, rest.ErrUnauthenticated
	}
	projects, err := VisibleProjects(ctx, snap)
	if err != nil {
		return nil, err
	}
	components, err := VisibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	sums, err := sumsOf(ctx, snap, "", "")
	if err != nil {
		return nil, err
	}
	shown, err := ShownComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	_, users, err := snap.Users(ctx, store.UserQuery{Components: shown})
	total := addUp(sums)
	changes, broken := int64(0), 0
	for i := range components {
		changes += components[i].Changes
		if components[i].Problem.Failed() {
			broken++
		}
	}
	return wire.Object{
		"units", total.Stats.Total.Units, "units_translated", total.Stats.Translated.Units, "users", users, "changes", changes,
		"projects", len(projects), "components", len(components), "translations", total.Translations, "languages", len(sums),
		"checks", total.Stats.Failing.Units, "configuration_errors", broken, "suggestions", total.Stats.Suggestions,
		"celery_queues",
		wire.Object{},
		"name", wire.SiteTitle,
	}, err
}

// taskNamespace makes our UUIDs differ from others'.
const taskNamespace = "repoglot first import\x00"

// TaskID is the UUID of a component's first import. It is version 5 of RFC 9562, so that every
// server gives the same one; that needs SHA-1, which protects nothing here.
func TaskID(project, component string) string {
	sum := sha1.Sum([]byte(taskNamespace + project + "/" + component))
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// task is a background task; here it is always a first import.
func task(completed bool, progress int, log string) wire.Object {
	return wire.Object{"completed", completed, "progress", progress, "result", nil, "log", log}
}

func (e *Env) getTask(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	components, err := VisibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	for _, row := range components {
		switch {
		case TaskID(row.Project.Slug, row.Slug) != r.PathParam("uuid"):
		case row.Imported:
			return task(true, 100, ""), nil
		default:
			if percent, running := e.Progress(row); running {
				return task(false, percent, "importing"), nil
			}
			return task(false, 0, ""), nil
		}
	}
	return nil, rest.ErrNotFound
}

// openapi is the description of this API, by which a test validates every answer of the tests.
//
//go:embed openapi.yaml
var openapi string

// Schema is the description with the program's version: as YAML, as JSON and as a page.
type Schema struct {
	yaml []byte
	JSON func() ([]byte, error)
	page func() ([]byte, error)
}

// NewSchema makes the description for a version of the program; "" is shown as 0.
func NewSchema(version string) Schema {
	text := []byte(strings.Replace(openapi, "version: '0'", "version: "+strconv.Quote(cmp.Or(version, "0")), 1))
	data := sync.OnceValues(func() ([]byte, error) {
		data, err := yaml.YAMLToJSON(text)
		if err != nil {
			return nil, fmt.Errorf("convert openapi.yaml: %w", err)
		}
		return data, nil
	})
	return Schema{yaml: text, JSON: data, page: sync.OnceValues(func() ([]byte, error) {
		description, err := data()
		if err != nil {
			return nil, err
		}
		return page.Docs(description)
	})}
}

func (d Schema) getDocs(context.Context, *store.Snapshot, *rest.Request) (any, error) {
	body, err := d.page()
	return &rest.Document{ContentType: rest.TypeHTML, Body: body}, err
}

// getSchema answers YAML, which people read, unless the client asks for JSON by
// format=json or by an Accept header that names application/json.
func (d Schema) getSchema(_ context.Context, _ *store.Snapshot, r *rest.Request) (any, error) {
	accept := r.HTTP.Header.Get("Accept")
	if r.Representation.Format != "json" && !strings.Contains(accept, rest.TypeJSON) {
		return &rest.Document{ContentType: "application/yaml", Body: d.yaml}, nil
	}
	body, err := d.JSON()
	return &rest.Document{ContentType: rest.TypeJSON, Body: body}, err
}

// search finds projects, components, users and languages whose name or slug
// contains q, in any case. It answers a bare array, empty for an empty q.
func (e *Env) search(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	q, _ := r.Params.Get("q")
	needle := strings.ToLower(strings.TrimSpace(q))
	found, of := []wire.Object{}, map[string]int{} // their addresses have no scheme and host
	if needle == "" {
		return &rest.Array{Items: found}, nil
	}
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), needle) }
	add := func(category, name, url string, texts ...string) {
		if of[category] < maxFound && slices.ContainsFunc(texts, has) {
			of[category]++
			found = append(found, wire.Object{"url", url, "name", name, "category", category})
		}
	}
	projects, err := VisibleProjects(ctx, snap)
	if err != nil {
		return nil, err
	}
	for i := range projects {
		p := &projects[i]
		name := wire.NameOrSlug(p.Settings.Name, p.Slug)
		add("Project", name, wire.Path("projects", p.Slug), name, p.Slug)
	}
	components, err := VisibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	for _, c := range components {
		name := wire.NameOrSlug(c.Settings.Name, c.Slug)
		add("Component", wire.NameOrSlug(c.Project.Settings.Name, c.Project.Slug)+"/"+name, wire.Path("projects", c.Project.Slug, c.Slug), name, c.Slug)
	}
	shown, err := ShownComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	users, _, err := snap.Users(ctx, store.UserQuery{Contains: needle, Components: shown, Limit: maxFound})
	if err != nil {
		return nil, err
	}
	for i := range users {
		add("User", users[i].FullName, wire.Path("user", users[i].Username), users[i].Username, users[i].FullName)
	}
	codes, err := servedLanguages(ctx, snap)
	for _, code := range codes {
		l := e.Language(code)
		add("Language", l.Name, wire.Path("languages", l.Code), l.Name, l.Code)
	}
	return &rest.Array{Items: found}, err
}
