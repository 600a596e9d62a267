package resource

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// Handler answers a GET. It reads everything through snap and returns what to
// answer: a *wire.List, a *rest.Array, a *rest.Document, a *rest.Download, a
// *rest.ChangeStream, a rest.Redirect, or any other value, which is sent as JSON.
// rest.AsProblem says what clients are told of an error.
type Handler func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error)

// Route is one resource: a row of the table in facts §6.
type Route struct {
	// Path is Echo's pattern, with a trailing slash.
	Path string
	// Allow is the header Allow: the methods of the resource in Weblate.
	Allow string
	// Name and About are what OPTIONS says.
	Name, About string
	// Kind decides about representations.
	Kind Kind
	// Handle answers GET and HEAD.
	Handle Handler
}

// Kind is what a resource answers with.
type Kind int

const (
	KindObject   Kind = iota // JSON
	KindLive                 // JSON that changes without the store, so that it is never kept
	KindList                 // JSON or CSV, a page of a list
	KindDocument             // a document that the handler chooses itself
	KindFile                 // a document or an archive, in a format that the handler chooses
	KindEvents               // server-sent events
)

// The values of Allow, in the order of facts §6.
const (
	AllowRead       = "GET, HEAD, OPTIONS"
	allowPost       = "GET, POST, HEAD, OPTIONS"
	allowDelete     = "GET, DELETE, HEAD, OPTIONS"
	allowPutToPatch = "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"
	allowFile       = "GET, POST, PUT, HEAD, OPTIONS"
	onlyPost        = "POST, OPTIONS"
	onlyDelete      = "DELETE, OPTIONS"
)

// Routes is the table of all resources, those of the specification first.
func Routes(e *Env) []Route {
	d := NewSchema(e.Version)
	const (
		aboutTranslations   = "Translation components API."
		aboutComponents     = "Translation components API."
		aboutProjects       = "Translation projects API."
		aboutLanguages      = "Languages API."
		aboutUnits          = "Units API."
		aboutChanges        = "Translation changes API."
		aboutUsers          = "Users API."
		aboutTasks          = "Tasks API."
		aboutAddons         = "Addons API."
		aboutComponentLists = "Component lists API."
	)
	const (
		translation = "/api/translations/:project/:component/:language/"
		component   = "/api/components/:project/:component/"
		project     = "/api/projects/:project/"
	)
	return slices.Concat([]Route{
		{Path: translation, Allow: allowDelete, Name: "Translation Instance", About: aboutTranslations, Kind: KindObject, Handle: e.getTranslation},
		{Path: translation + "units/", Allow: allowPost, Name: "Units", About: aboutTranslations, Kind: KindList, Handle: e.listUnits},
		{Path: translation + "checks/", Allow: AllowRead, Name: "Checks", About: aboutTranslations, Kind: KindList, Handle: e.listTranslationChecks},
		{Path: translation + "changes/", Allow: AllowRead, Name: "Changes", About: aboutTranslations, Kind: KindList, Handle: listOf(e.translationChanges)},
		{Path: translation + "changes/stream/", Allow: AllowRead, Name: "Change Stream", About: aboutChanges, Kind: KindEvents, Handle: follow(e.translationChanges)},
		{Path: translation + "statistics/", Allow: AllowRead, Name: "Statistics", About: aboutTranslations, Kind: KindObject, Handle: e.getTranslationStatistics},
		{Path: translation + "statistics/history/", Allow: AllowRead, Name: "Statistics over Time", About: aboutTranslations, Kind: KindList, Handle: statisticsOf(e.translationStatistics)},
		{Path: translation + "repository/", Allow: allowPost, Name: "Repository", About: aboutTranslations, Kind: KindObject, Handle: e.getTranslationRepository},
		{Path: translation + "file/", Allow: allowFile, Name: "File", About: aboutTranslations, Kind: KindFile, Handle: e.getFile},
		{Path: translation + "autotranslate/", Allow: onlyPost, Name: "Autotranslate", About: aboutTranslations, Kind: KindObject, Handle: writeOnly},
		{Path: "/api/units/", Allow: AllowRead, Name: "Unit List", About: aboutUnits, Kind: KindList, Handle: listAllUnits},
		{Path: "/api/units/:id/", Allow: allowPutToPatch, Name: "Unit Instance", About: aboutUnits, Kind: KindObject, Handle: e.getUnit},
		{Path: "/api/units/:id/checks/", Allow: AllowRead, Name: "Checks", About: aboutUnits, Kind: KindList, Handle: e.listUnitChecks},
		{Path: "/api/units/:id/translations/", Allow: AllowRead, Name: "Translations", About: aboutUnits, Kind: KindList, Handle: e.listUnitTranslations},
		{Path: "/api/units/:id/suggestions/", Allow: allowPost, Name: "Suggestions", About: aboutUnits, Kind: KindList, Handle: e.listUnitSuggestions},
		{Path: "/api/units/:id/comments/", Allow: allowPost, Name: "Comments", About: aboutUnits, Kind: KindList, Handle: e.listUnitComments},
		{Path: "/api/changes/:id/", Allow: AllowRead, Name: "Change Instance", About: aboutChanges, Kind: KindObject, Handle: e.getChange},

		{Path: "/api/", Allow: AllowRead, Name: "API Root", About: "The lists that the API starts from.", Kind: KindObject, Handle: getRoot},
		{Path: "/api/docs/", Allow: AllowRead, Name: "Documentation", About: "The description of this API for people.", Kind: KindDocument, Handle: d.getDocs},
		{Path: "/api/statistics/", Allow: AllowRead, Name: "Statistics", About: "Statistics of everything that is served.", Kind: KindObject, Handle: getStatistics},
		{Path: "/api/schema/", Allow: AllowRead, Name: "Schema", About: "The OpenAPI description of this API.", Kind: KindDocument, Handle: d.getSchema},
		{Path: "/api/projects/", Allow: allowPost, Name: "Project List", About: aboutProjects, Kind: KindList, Handle: listProjects},
		{Path: project, Allow: allowPutToPatch, Name: "Project Instance", About: aboutProjects, Kind: KindObject, Handle: getProject},
		{Path: project + "components/", Allow: allowPost, Name: "Components", About: aboutProjects, Kind: KindList, Handle: e.listProjectComponents},
		{Path: project + "changes/", Allow: AllowRead, Name: "Changes", About: aboutProjects, Kind: KindList, Handle: listOf(projectChanges)},
		{Path: project + "changes/stream/", Allow: AllowRead, Name: "Change Stream", About: aboutChanges, Kind: KindEvents, Handle: follow(projectChanges)},
		{Path: project + "statistics/history/", Allow: AllowRead, Name: "Statistics over Time", About: aboutProjects, Kind: KindList, Handle: statisticsOf(projectStatistics)},
		{Path: project + "statistics/", Allow: AllowRead, Name: "Statistics", About: aboutProjects, Kind: KindObject, Handle: getProjectStatistics},
		{Path: project + "languages/", Allow: AllowRead, Name: "Languages", About: aboutProjects, Kind: KindList, Handle: e.listProjectLanguages},
		{Path: project + "repository/", Allow: allowPost, Name: "Repository", About: aboutProjects, Kind: KindObject, Handle: getProjectRepository},
		{Path: project + "file/", Allow: AllowRead, Name: "File", About: aboutProjects, Kind: KindFile, Handle: e.getProjectFiles},
		{Path: project + "labels/", Allow: allowPost, Name: "Labels", About: aboutProjects, Kind: KindList, Handle: none(ofProject, "labels")},
		{Path: project + "categories/", Allow: AllowRead, Name: "Categories", About: aboutProjects, Kind: KindList, Handle: none(ofProject, "categories")},
		{Path: "/api/components/", Allow: AllowRead, Name: "Component List", About: aboutComponents, Kind: KindList, Handle: e.listComponents},
		{Path: component, Allow: allowPutToPatch, Name: "Component Instance", About: aboutComponents, Kind: KindObject, Handle: e.getComponent},
		{Path: component + "translations/", Allow: allowPost, Name: "Translations", About: aboutComponents, Kind: KindList, Handle: e.listComponentTranslations},
		{Path: component + "changes/", Allow: AllowRead, Name: "Changes", About: aboutComponents, Kind: KindList, Handle: listOf(e.componentChanges)},
		{Path: component + "changes/stream/", Allow: AllowRead, Name: "Change Stream", About: aboutChanges, Kind: KindEvents, Handle: follow(e.componentChanges)},
		{Path: component + "statistics/history/", Allow: AllowRead, Name: "Statistics over Time", About: aboutComponents, Kind: KindList, Handle: statisticsOf(e.componentStatistics)},
		{Path: component + "statistics/", Allow: AllowRead, Name: "Statistics", About: aboutComponents, Kind: KindList, Handle: e.listComponentStatistics},
		{Path: component + "repository/", Allow: allowPost, Name: "Repository", About: aboutComponents, Kind: KindObject, Handle: getComponentRepository},
		{Path: component + "lock/", Allow: allowPost, Name: "Lock", About: aboutComponents, Kind: KindObject, Handle: getLock},
		{Path: component + "links/", Allow: allowPost, Name: "Links", About: aboutComponents, Kind: KindList, Handle: none(ofComponent, "links")},
		{Path: component + "links/:linked/", Allow: onlyDelete, Name: "Delete Links", About: aboutComponents, Kind: KindObject, Handle: writeOnly},
		{Path: component + "screenshots/", Allow: AllowRead, Name: "Screenshots", About: aboutComponents, Kind: KindList, Handle: none(ofComponent, "screenshots")},
		{Path: component + "addons/", Allow: onlyPost, Name: "Addons", About: aboutComponents, Kind: KindObject, Handle: writeOnly},
		{Path: component + "file/", Allow: AllowRead, Name: "File", About: aboutComponents, Kind: KindFile, Handle: e.getComponentFiles},
		{Path: component + "new_template/", Allow: AllowRead, Name: "New Template", About: aboutComponents, Kind: KindDocument, Handle: e.getNewTemplate},
		{Path: component + "monolingual_base/", Allow: AllowRead, Name: "Monolingual Base", About: aboutComponents, Kind: KindDocument, Handle: getMonolingualBase},
		{Path: "/api/translations/", Allow: AllowRead, Name: "Translation List", About: aboutTranslations, Kind: KindList, Handle: e.listTranslations},
		{Path: "/api/languages/", Allow: allowPost, Name: "Language List", About: aboutLanguages, Kind: KindList, Handle: e.listLanguages},
		{Path: "/api/languages/:code/", Allow: allowPutToPatch, Name: "Language Instance", About: aboutLanguages, Kind: KindObject, Handle: e.getLanguage},
		{Path: "/api/languages/:code/statistics/history/", Allow: AllowRead, Name: "Statistics over Time", About: aboutLanguages, Kind: KindList, Handle: statisticsOf(e.languageStatistics)},
		{Path: "/api/languages/:code/statistics/", Allow: AllowRead, Name: "Statistics", About: aboutLanguages, Kind: KindObject, Handle: e.getLanguageStatistics},
		{Path: "/api/changes/", Allow: AllowRead, Name: "Change List", About: aboutChanges, Kind: KindList, Handle: listOf(serverChanges)},
		{Path: "/api/changes/stream/", Allow: AllowRead, Name: "Change Stream", About: aboutChanges, Kind: KindEvents, Handle: follow(serverChanges)},
		{Path: "/api/users/", Allow: allowPost, Name: "User List", About: aboutUsers, Kind: KindList, Handle: listUsers},
		{Path: "/api/users/:username/", Allow: allowPutToPatch, Name: "User Instance", About: aboutUsers, Kind: KindObject, Handle: getUser},
		{Path: "/api/users/:username/statistics/", Allow: AllowRead, Name: "Statistics", About: aboutUsers, Kind: KindObject, Handle: getUserStatistics},
		{Path: "/api/users/:username/notifications/", Allow: allowPost, Name: "Notifications", About: aboutUsers, Kind: KindList, Handle: none(ofUser, "notifications")},
		{Path: "/api/addons/", Allow: AllowRead, Name: "Addon List", About: aboutAddons, Kind: KindList, Handle: listAddons},
		{Path: "/api/addons/:id/", Allow: allowPutToPatch, Name: "Addon Instance", About: aboutAddons, Kind: KindObject, Handle: getAddon},
		{Path: "/api/tasks/:uuid/", Allow: allowDelete, Name: "Task Instance", About: aboutTasks, Kind: KindLive, Handle: e.getTask},
		{Path: "/api/component-lists/", Allow: allowPost, Name: "Component List List", About: aboutComponentLists, Kind: KindList, Handle: none(ofServer, "component-lists")},
		{Path: "/api/component-lists/:slug/", Allow: allowPutToPatch, Name: "Component List Instance", About: aboutComponentLists, Kind: KindObject, Handle: noSuch},
		{Path: "/api/component-lists/:slug/components/", Allow: allowPost, Name: "Components", About: aboutComponentLists, Kind: KindList, Handle: noSuch},
		{Path: "/api/groups/", Allow: allowPost, Name: "Group List", About: "Groups API.", Kind: KindList, Handle: none(ofServer, "groups")},
		{Path: "/api/roles/", Allow: allowPost, Name: "Role List", About: "Roles API.", Kind: KindList, Handle: none(ofServer, "roles")},
		{Path: "/api/memory/", Allow: AllowRead, Name: "Memory List", About: "Memory API.", Kind: KindList, Handle: none(ofServer, "memory")},
		{Path: "/api/screenshots/", Allow: allowPost, Name: "Screenshot List", About: "Screenshots API.", Kind: KindList, Handle: none(ofServer, "screenshots")},
		{Path: "/api/metrics/", Allow: AllowRead, Name: "Metrics", About: "Metrics view for monitoring.", Kind: KindObject, Handle: getTotals},
		{Path: "/exports/stats/:project/", Allow: AllowRead, Name: "Statistics", About: aboutProjects, Kind: KindFile, Handle: e.exportProjectStatistics},
		{Path: "/exports/stats/:project/:component/", Allow: AllowRead, Name: "Statistics", About: aboutComponents, Kind: KindFile, Handle: e.exportComponentStatistics},
		{Path: "/api/search/", Allow: AllowRead, Name: "Search", About: "Site-wide search endpoint.", Kind: KindList, Handle: e.search},
	}, e.feedRoutes(), e.widgetRoutes())
}
