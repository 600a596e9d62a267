package resource

import (
	"context"
	"net/http"
	"slices"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// Handler answers a GET. It reads everything through snap and returns what to
// answer: a *wire.List, a *rest.Array, a *rest.Document, a *rest.Download, a
// *rest.ChangeStream, a rest.Redirect, or any other value, which is sent as
// JSON. rest.AsProblem decides what clients are told of an error.
type Handler func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error)

// finder finds what the path of a request names, if the client may see it.
type finder[T any] func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (T, error)

// with makes the handler of a resource of what find finds.
func with[T any](find finder[T], handle func(context.Context, *store.Snapshot, *rest.Request, *T) (any, error)) Handler {
	return func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
		object, err := find(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		return handle(ctx, snap, r, &object)
	}
}

// object makes the handler of an object that follows from what find finds.
func object[T, O any](find finder[T], of func(wire.Links, *T) O) Handler {
	return with(find, func(_ context.Context, _ *store.Snapshot, r *rest.Request, found *T) (any, error) {
		return of(r.Link, found), nil
	})
}

// Route is one resource.
type Route struct {
	// Path is Echo's pattern, with a trailing slash.
	Path string
	// Allow is the header Allow: the methods that the resource has in Weblate.
	Allow string
	// Name and About are the answer to OPTIONS.
	Name, About string
	// Kind says which representations the resource has.
	Kind Kind
	// Long says that it takes long to make: it is made in turn.
	Long bool
	// Handle answers GET and HEAD.
	Handle Handler
	// Asks, if not nil, are the fields of the body of a POST by which anybody asks: Handle
	// answers it, too, as a search.
	Asks []string
	// Writes answers methods that write, for tokens whose scope permits to write.
	Writes map[string]Writer
}

// Writer answers a method that writes. It reads and stores by itself, and asks itself
// what the client may do. The value is sent as JSON.
type Writer func(ctx context.Context, r *rest.Request) (any, error)

// writer makes the Writer of what find finds. may refuses clients; of others at most so many
// bytes of the body are read, which must have some fields; none with 0.
func writer[T any](
	e *Env, find finder[T], may func(context.Context, *T) error, most int64,
	write func(context.Context, *rest.Request, *T, *rest.Body) (any, error), fields ...string,
) Writer {
	return func(ctx context.Context, r *rest.Request) (any, error) {
		object, err := Read(ctx, e, r, func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (T, error) {
			object, err := find(ctx, snap, r)
			if err == nil {
				err = may(ctx, &object)
			}
			return object, err
		})
		if err != nil {
			return nil, err
		}
		var body rest.Body
		if most > 0 {
			if body, err = r.ReadBody(most, fields...); err != nil {
				return nil, err
			}
		}
		value, err := write(ctx, r, &object, &body)
		return value, EditProblem(err)
	}
}

// writes returns the writes of a route, if edits can be stored.
func (e *Env) writes(w Writer, methods ...string) map[string]Writer {
	if e.Edits == nil {
		return nil
	}
	all := map[string]Writer{}
	for _, method := range methods {
		all[method] = w
	}
	return all
}

// Kind is what a resource answers with.
type Kind int

const (
	KindObject   Kind = iota // JSON
	KindLive                 // JSON that changes without the store, so it is never cached
	KindList                 // a page of a list, as JSON or CSV, or the whole list as lines
	KindDocument             // a document whose type the handler chooses
	KindFile                 // a document or an archive in a format that the handler chooses
	KindEvents               // server-sent events
	KindPage                 // a page for people
)

// The values of Allow, with the methods in Weblate's order.
const (
	AllowRead       = "GET, HEAD, OPTIONS"
	allowPost       = "GET, POST, HEAD, OPTIONS"
	allowDelete     = "GET, DELETE, HEAD, OPTIONS"
	allowPutToPatch = "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"
	allowFile       = "GET, POST, PUT, HEAD, OPTIONS"
	onlyPost        = "POST, OPTIONS"
	onlyDelete      = "DELETE, OPTIONS"
)

// Routes is the table of all resources; the pages for people are in api/web.
func Routes(e *Env) []Route {
	const (
		translation = "/api/translations/:project/:component/:language/"
		component   = "/api/components/:project/:component/"
		project     = "/api/projects/:project/"

		ofComponents = "Translation components API."
		ofProjects   = "Translation projects API."
		ofUnits      = "Units API."
		ofChanges    = "Translation changes API."
		ofLanguages  = "Languages API."
		ofUsers      = "Users API."
		ofLists      = "Component lists API."
	)
	schema := NewSchema(e.Version)
	return slices.Concat([]Route{
		{Path: translation, Allow: allowDelete, Name: "Translation Instance", About: ofComponents, Kind: KindObject, Handle: with(e.VisibleTranslation, e.getTranslation), Writes: e.writes(writer(e, e.VisibleTranslation, mayRemove, 0, e.removeTranslation), http.MethodDelete)},
		{Path: translation + "units/", Allow: allowPost, Name: "Units", About: ofComponents, Kind: KindList, Handle: with(e.VisibleTranslation, listUnits), Writes: e.writes(writer(e, e.VisibleTranslation, mayAddStrings, rest.MaxBody, e.addUnit), http.MethodPost)},
		{Path: translation + "missing/", Allow: AllowRead, Name: "Missing Strings", About: ofComponents, Kind: KindList, Handle: with(e.VisibleTranslation, listMissing)},
		{Path: translation + "contributors/", Allow: AllowRead, Name: "Contributors", About: ofComponents, Kind: KindList, Handle: with(e.scopeOf, listContributors)},
		{Path: translation + "checks/", Allow: AllowRead, Name: "Checks", About: ofComponents, Kind: KindList, Handle: with(e.VisibleTranslation, e.listTranslationChecks)},
		{Path: translation + "changes/", Allow: AllowRead, Name: "Changes", About: ofComponents, Kind: KindList, Handle: with(e.scopeOf, listChanges)},
		{Path: translation + "changes/stream/", Allow: AllowRead, Name: "Change Stream", About: ofChanges, Kind: KindEvents, Handle: with(e.scopeOf, e.streamChanges)},
		{Path: translation + "statistics/", Allow: AllowRead, Name: "Statistics", About: ofComponents, Kind: KindObject, Handle: with(e.VisibleTranslation, e.getTranslationStatistics)},
		{Path: translation + "statistics/history/", Allow: AllowRead, Name: "Statistics over Time", About: ofComponents, Kind: KindList, Handle: with(e.scopeOf, listHistory)},
		{Path: translation + "repository/", Allow: allowPost, Name: "Repository", About: ofComponents, Kind: KindObject, Handle: with(VisibleComponent, e.getRepository), Writes: e.writes(writer(e, e.operation, mayRun, rest.MaxBody, e.operate, "operation"), http.MethodPost)},
		{Path: translation + "file/", Allow: allowFile, Name: "File", About: ofComponents, Kind: KindFile, Handle: with(e.VisibleTranslation, e.getFile), Writes: e.writes(writer(e, e.VisibleTranslation, mayUpload, maxUpload, e.uploadFile), http.MethodPost, http.MethodPut)},
		{Path: translation + "edits/", Allow: AllowRead, Name: "Edits", About: ofComponents, Kind: KindList, Handle: with(e.scopeOf, listEdits)},
		{Path: translation + "autotranslate/", Allow: onlyPost, Name: "Autotranslate", About: ofComponents, Kind: KindObject, Handle: writeOnly},
		{Path: "/api/translations/", Allow: AllowRead, Name: "Translation List", About: ofComponents, Kind: KindList, Handle: e.listTranslations},

		{Path: "/api/components/", Allow: AllowRead, Name: "Component List", About: ofComponents, Kind: KindList, Handle: with(e.scopeOf, e.listComponents)},
		{Path: component, Allow: allowPutToPatch, Name: "Component Instance", About: ofComponents, Kind: KindObject, Handle: object(VisibleComponent, func(l wire.Links, c *store.ComponentRow) wire.Object { return e.newComponent(l, c, true) })},
		{Path: component + "translations/", Allow: allowPost, Name: "Translations", About: ofComponents, Kind: KindList, Handle: with(e.ImportedComponent, e.listComponentTranslations), Writes: e.writes(writer(e, e.ImportedComponent, mayAddSome, rest.MaxBody, e.addTranslation, "language_code"), http.MethodPost)},
		{Path: component + "changes/", Allow: AllowRead, Name: "Changes", About: ofComponents, Kind: KindList, Handle: with(e.scopeOf, listChanges)},
		{Path: component + "changes/stream/", Allow: AllowRead, Name: "Change Stream", About: ofChanges, Kind: KindEvents, Handle: with(e.scopeOf, e.streamChanges)},
		{Path: component + "statistics/history/", Allow: AllowRead, Name: "Statistics over Time", About: ofComponents, Kind: KindList, Handle: with(e.scopeOf, listHistory)},
		{Path: component + "statistics/", Allow: AllowRead, Name: "Statistics", About: ofComponents, Kind: KindList, Handle: with(e.ImportedComponent, e.listComponentStatistics)},
		{Path: component + "contributors/", Allow: AllowRead, Name: "Contributors", About: ofComponents, Kind: KindList, Handle: with(e.scopeOf, listContributors)},
		{Path: component + "credits/", Allow: AllowRead, Name: "Credits", About: ofComponents, Kind: KindObject, Handle: with(e.scopeOf, e.listCredits)},
		{Path: component + "repository/", Allow: allowPost, Name: "Repository", About: ofComponents, Kind: KindObject, Handle: with(VisibleComponent, e.getRepository), Writes: e.writes(writer(e, e.operation, mayRun, rest.MaxBody, e.operate, "operation"), http.MethodPost)},
		{Path: component + "edits/", Allow: AllowRead, Name: "Edits", About: ofComponents, Kind: KindList, Handle: with(e.scopeOf, listEdits)},
		{Path: component + "compare/:commits/", Allow: AllowRead, Name: "Comparison", About: "What differs between two commits, by string.", Kind: KindObject, Long: true, Handle: with(e.ImportedComponent, e.getComparison)},
		{Path: component + "lock/", Allow: allowPost, Name: "Lock", About: ofComponents, Kind: KindObject, Handle: with(namedComponents, getLock), Writes: e.writes(writer(e, e.operable, mayOperate, rest.MaxBody, e.lock, "lock"), http.MethodPost)},
		{Path: component + "requests/", Allow: allowPost, Name: "Requests", About: ofComponents, Kind: KindObject, Handle: with(VisibleComponent, listRequests), Writes: e.writes(writer(e, VisibleComponent, MayMerge, rest.MaxBody, e.mergeRequest, "number", "head"), http.MethodPost)},
		{Path: component + "links/", Allow: allowPost, Name: "Links", About: ofComponents, Kind: KindList, Handle: emptyList(VisibleComponent)},
		{Path: component + "links/:linked/", Allow: onlyDelete, Name: "Delete Links", About: ofComponents, Kind: KindObject, Handle: writeOnly},
		{Path: component + "screenshots/", Allow: AllowRead, Name: "Screenshots", About: ofComponents, Kind: KindList, Handle: emptyList(VisibleComponent)},
		{Path: component + "addons/", Allow: onlyPost, Name: "Addons", About: ofComponents, Kind: KindObject, Handle: writeOnly},
		{Path: component + "file/", Allow: AllowRead, Name: "File", About: ofComponents, Kind: KindFile, Handle: e.getFiles},
		{Path: component + "new_template/", Allow: AllowRead, Name: "New Template", About: ofComponents, Kind: KindDocument, Handle: with(e.ImportedComponent, e.getNewTemplate)},
		{Path: component + "monolingual_base/", Allow: AllowRead, Name: "Monolingual Base", About: ofComponents, Kind: KindDocument, Handle: with(VisibleComponent, getMonolingualBase)},
		{Path: "/exports/stats/:project/:component/", Allow: AllowRead, Name: "Statistics", About: ofComponents, Kind: KindFile, Handle: exported(e.ImportedComponent, e.componentStatistics)},

		{Path: "/api/projects/", Allow: allowPost, Name: "Project List", About: ofProjects, Kind: KindList, Handle: listProjects},
		{Path: project, Allow: allowPutToPatch, Name: "Project Instance", About: ofProjects, Kind: KindObject, Handle: object(VisibleProject, wire.NewProject)},
		{Path: project + "components/", Allow: allowPost, Name: "Components", About: ofProjects, Kind: KindList, Handle: with(e.scopeOf, e.listComponents)},
		{Path: project + "changes/", Allow: AllowRead, Name: "Changes", About: ofProjects, Kind: KindList, Handle: with(e.scopeOf, listChanges)},
		{Path: project + "changes/stream/", Allow: AllowRead, Name: "Change Stream", About: ofChanges, Kind: KindEvents, Handle: with(e.scopeOf, e.streamChanges)},
		{Path: project + "statistics/history/", Allow: AllowRead, Name: "Statistics over Time", About: ofProjects, Kind: KindList, Handle: with(e.scopeOf, listHistory)},
		{Path: project + "statistics/", Allow: AllowRead, Name: "Statistics", About: ofProjects, Kind: KindObject, Handle: with(VisibleProject, getProjectStatistics)},
		{Path: project + "languages/", Allow: AllowRead, Name: "Languages", About: ofProjects, Kind: KindList, Handle: with(VisibleProject, e.listProjectLanguages)},
		{Path: project + "matrix/", Allow: AllowRead, Name: "Matrix", About: ofProjects, Kind: KindList, Handle: with(VisibleProject, e.listMatrix)},
		{Path: project + "contributors/", Allow: AllowRead, Name: "Contributors", About: ofProjects, Kind: KindList, Handle: with(e.scopeOf, listContributors)},
		{Path: project + "credits/", Allow: AllowRead, Name: "Credits", About: ofProjects, Kind: KindObject, Handle: with(e.scopeOf, e.listCredits)},
		{Path: project + "repository/", Allow: allowPost, Name: "Repository", About: ofProjects, Kind: KindObject, Handle: with(VisibleProject, getProjectRepository), Writes: e.writes(writer(e, e.operation, mayRun, rest.MaxBody, e.operate, "operation"), http.MethodPost)},
		{Path: project + "file/", Allow: AllowRead, Name: "File", About: ofProjects, Kind: KindFile, Handle: e.getFiles},
		{Path: project + "languages/:code/file/", Allow: AllowRead, Name: "File", About: ofProjects, Kind: KindFile, Handle: e.getFiles},
		{Path: project + "edits/", Allow: AllowRead, Name: "Edits", About: ofProjects, Kind: KindList, Handle: with(e.scopeOf, listEdits)},
		{Path: project + "lock/", Allow: allowPost, Name: "Lock", About: ofProjects, Kind: KindObject, Handle: with(namedComponents, getLock), Writes: e.writes(writer(e, e.operable, mayOperate, rest.MaxBody, e.lock, "lock"), http.MethodPost)},
		{Path: project + "labels/", Allow: allowPost, Name: "Labels", About: ofProjects, Kind: KindList, Handle: emptyList(VisibleProject)},
		{Path: project + "categories/", Allow: AllowRead, Name: "Categories", About: ofProjects, Kind: KindList, Handle: emptyList(VisibleProject)},
		{Path: "/exports/stats/:project/", Allow: AllowRead, Name: "Statistics", About: ofProjects, Kind: KindFile, Handle: exported(VisibleProject, e.languagesOfProject)},

		{Path: "/api/units/", Allow: AllowRead, Name: "Unit List", About: ofUnits, Kind: KindList, Handle: listAllUnits},
		{Path: "/api/units/:id/", Allow: allowPutToPatch, Name: "Unit Instance", About: ofUnits, Kind: KindObject, Handle: with(e.visibleUnit, getUnit), Writes: e.writes(writer(e, e.visibleUnit, changing(MayEdit), rest.MaxBody, e.putUnit), http.MethodPatch, http.MethodPut)},
		{Path: "/api/edits/:id/", Allow: allowDelete, Name: "Edit Instance", About: "Edits API.", Kind: KindObject, Handle: with(e.visibleEdit, getEdit), Writes: e.writes(writer(e, e.visibleEdit, mayRedo, 0, e.deleteEdit), http.MethodDelete)},
		{Path: "/api/edits/:id/restore/", Allow: onlyPost, Name: "Restore", About: "Edits API.", Kind: KindObject, Handle: writeOnly, Writes: e.writes(writer(e, e.visibleEdit, mayRedo, 0, e.restoreEdit), http.MethodPost)},
		{Path: "/api/units/:id/checks/", Allow: AllowRead, Name: "Checks", About: ofUnits, Kind: KindList, Handle: with(e.visibleUnit, e.listUnitChecks)},
		{Path: "/api/units/:id/changes/", Allow: AllowRead, Name: "Changes", About: ofUnits, Kind: KindList, Handle: with(e.scopeOf, listChanges)},
		{Path: "/api/units/:id/occurrences/", Allow: AllowRead, Name: "Occurrences", About: ofUnits, Kind: KindList, Handle: with(e.visibleUnit, listOccurrences)},
		{Path: "/api/units/:id/translations/", Allow: AllowRead, Name: "Translations", About: ofUnits, Kind: KindList, Handle: with(e.visibleUnit, listUnitTranslations)},
		{Path: "/api/units/:id/suggestions/", Allow: allowPost, Name: "Suggestions", About: ofUnits, Kind: KindList, Handle: with(e.visibleUnit, listUnitSuggestions), Writes: e.writes(writer(e, e.visibleUnit, changing(MaySuggest), rest.MaxBody, e.suggest, "target"), http.MethodPost)},
		{Path: "/api/suggestions/:id/accept/", Allow: onlyPost, Name: "Accept", About: "Suggestions API.", Kind: KindObject, Handle: writeOnly, Writes: e.writes(writer(e, e.visibleEdit, mayRedo, rest.MaxBody, e.answerSuggestion(true)), http.MethodPost)},
		{Path: "/api/suggestions/:id/reject/", Allow: onlyPost, Name: "Reject", About: "Suggestions API.", Kind: KindObject, Handle: writeOnly, Writes: e.writes(writer(e, e.visibleEdit, mayReject, rest.MaxBody, e.answerSuggestion(false)), http.MethodPost)},
		{Path: "/api/units/:id/comments/", Allow: allowPost, Name: "Comments", About: ofUnits, Kind: KindList, Handle: with(e.visibleUnit, listUnitComments)},

		{Path: "/api/changes/:id/", Allow: AllowRead, Name: "Change Instance", About: ofChanges, Kind: KindObject, Handle: e.getChange},
		{Path: "/api/changes/", Allow: AllowRead, Name: "Change List", About: ofChanges, Kind: KindList, Handle: with(e.scopeOf, listChanges)},
		{Path: "/api/changes/stream/", Allow: AllowRead, Name: "Change Stream", About: ofChanges, Kind: KindEvents, Handle: with(e.scopeOf, e.streamChanges)},

		{Path: "/api/languages/", Allow: allowPost, Name: "Language List", About: ofLanguages, Kind: KindList, Handle: e.listLanguages},
		{Path: "/api/languages/:code/", Allow: allowPutToPatch, Name: "Language Instance", About: ofLanguages, Kind: KindObject, Handle: object(e.VisibleLanguage, func(l wire.Links, of *lang.Language) wire.Object { return wire.NewLanguage(l, *of) })},
		{Path: "/api/languages/:code/statistics/history/", Allow: AllowRead, Name: "Statistics over Time", About: ofLanguages, Kind: KindList, Handle: with(e.scopeOf, listHistory)},
		{Path: "/api/languages/:code/statistics/", Allow: AllowRead, Name: "Statistics", About: ofLanguages, Kind: KindObject, Handle: with(e.scopeOf, e.getStatistics)},

		{Path: "/api/users/", Allow: allowPost, Name: "User List", About: ofUsers, Kind: KindList, Handle: listUsers},
		{Path: "/api/users/:username/", Allow: allowPutToPatch, Name: "User Instance", About: ofUsers, Kind: KindObject, Handle: object(VisibleUser, newUser)},
		{Path: "/api/users/:username/statistics/", Allow: AllowRead, Name: "Statistics", About: ofUsers, Kind: KindObject, Handle: with(VisibleUser, getUserStatistics)},
		{Path: "/api/users/:username/contributions/", Allow: AllowRead, Name: "Contributions", About: ofUsers, Kind: KindList, Handle: with(VisibleUser, e.listContributions)},
		{Path: "/api/users/:username/notifications/", Allow: allowPost, Name: "Notifications", About: ofUsers, Kind: KindList, Handle: emptyList(VisibleUser)},

		{Path: "/api/", Allow: AllowRead, Name: "API Root", About: "The lists that the API starts from.", Kind: KindObject, Handle: getRoot},
		{Path: "/api/docs/", Allow: AllowRead, Name: "Documentation", About: "The description of this API for people.", Kind: KindDocument, Handle: schema.getDocs},
		{Path: "/api/statistics/", Allow: AllowRead, Name: "Statistics", About: "Statistics of everything that is served.", Kind: KindObject, Handle: with(e.scopeOf, e.getStatistics)},
		{Path: "/api/schema/", Allow: AllowRead, Name: "Schema", About: "The OpenAPI description of this API.", Kind: KindDocument, Handle: schema.getSchema},
		{Path: "/api/addons/", Allow: AllowRead, Name: "Addon List", About: "Addons API.", Kind: KindList, Handle: with(addons, listAddons)},
		{Path: "/api/addons/:id/", Allow: allowPutToPatch, Name: "Addon Instance", About: "Addons API.", Kind: KindObject, Handle: with(addons, getAddon)},
		{Path: "/api/tasks/:uuid/", Allow: allowDelete, Name: "Task Instance", About: "Tasks API.", Kind: KindLive, Handle: e.getTask},
		{Path: "/api/metrics/", Allow: AllowRead, Name: "Metrics", About: "Metrics view for monitoring.", Kind: KindObject, Handle: getServerMetrics},
		{Path: "/api/checks/", Allow: AllowRead, Name: "Check List", About: "Quality checks and how many strings fail them.", Kind: KindList, Handle: listCheckSums},
		{Path: "/api/search/", Allow: AllowRead, Name: "Search", About: "Site-wide search endpoint.", Kind: KindList, Handle: e.search},

		{Path: "/api/component-lists/", Allow: allowPost, Name: "Component List List", About: ofLists, Kind: KindList, Handle: emptyList(e.scopeOf)},
		{Path: "/api/component-lists/:slug/", Allow: allowPutToPatch, Name: "Component List Instance", About: ofLists, Kind: KindObject, Handle: noSuch},
		{Path: "/api/component-lists/:slug/components/", Allow: allowPost, Name: "Components", About: ofLists, Kind: KindList, Handle: noSuch},
		{Path: "/api/groups/", Allow: allowPost, Name: "Group List", About: "Groups API.", Kind: KindList, Handle: emptyList(e.scopeOf)},
		{Path: "/api/roles/", Allow: allowPost, Name: "Role List", About: "Roles API.", Kind: KindList, Handle: emptyList(e.scopeOf)},
		{Path: "/api/memory/", Allow: AllowRead, Name: "Memory List", About: "Memory API.", Kind: KindList, Handle: listMemory},
		{Path: "/api/memory/lookup/", Allow: onlyPost, Name: "Memory Lookup", About: "Memory API.", Kind: KindObject, Handle: lookUp, Asks: []string{"strings"}},
		{Path: "/api/categories/", Allow: allowPost, Name: "Category List", About: ofLists, Kind: KindList, Handle: emptyList(e.scopeOf)},
		{Path: "/api/categories/:id/", Allow: allowPutToPatch, Name: "Category Instance", About: ofLists, Kind: KindObject, Handle: noSuch},
		{Path: "/api/screenshots/", Allow: allowPost, Name: "Screenshot List", About: "Screenshots API.", Kind: KindList, Handle: emptyList(e.scopeOf)},
	}, e.feedRoutes(), e.widgetRoutes())
}

// Some lists are about things that people make in a translation service: groups and roles,
// shared components, labels, categories, screenshots, a translation memory, lists of
// components, notifications. A server over repositories has none of them, but clients follow
// the links. So each list exists, with paging, and is empty.

// emptyList answers an empty list if what it belongs to is visible.
func emptyList[T any](find finder[T]) Handler {
	return with(find, func(_ context.Context, _ *store.Snapshot, r *rest.Request, _ *T) (any, error) {
		return rest.ListOf(r, []struct{}{}, rest.MaxPageSize, "") // it has no other page
	})
}

// noSuch answers requests for members of a list that is always empty.
func noSuch(context.Context, *store.Snapshot, *rest.Request) (any, error) {
	return nil, rest.ErrNotFound
}

// writeOnly answers GET for a resource that has other methods only.
func writeOnly(_ context.Context, _ *store.Snapshot, r *rest.Request) (any, error) {
	return nil, rest.MethodNotAllowed(r.HTTP.Method)
}
