package wire

// SiteTitle is the name of the service.
const SiteTitle = "repoglot"

// Root lists the lists of the API (docs/compatibility.md#resources).
type Root struct {
	Users          string `json:"users"`
	Groups         string `json:"groups"`
	Roles          string `json:"roles"`
	Projects       string `json:"projects"`
	Components     string `json:"components"`
	Translations   string `json:"translations"`
	Memory         string `json:"memory"`
	Languages      string `json:"languages"`
	ComponentLists string `json:"component-lists"`
	Changes        string `json:"changes"`
	Units          string `json:"units"`
	Screenshots    string `json:"screenshots"`
	Addons         string `json:"addons"`
}

// SearchResult is a result of a search.
type SearchResult struct {
	// URL is the path of a web page, without scheme and host.
	URL      string `json:"url"`
	Name     string `json:"name"`
	Category string `json:"category"`
}

// ServerMetrics is what Weblate's API calls metrics, counted over what the
// client may see. The program's own metrics are elsewhere (docs/operation.md).
type ServerMetrics struct {
	Units           int64 `json:"units"`
	UnitsTranslated int64 `json:"units_translated"`
	Users           int   `json:"users"`
	Changes         int64 `json:"changes"`
	Projects        int   `json:"projects"`
	Components      int   `json:"components"`
	Translations    int64 `json:"translations"`
	Languages       int   `json:"languages"`
	// Checks is the number of units with failing checks.
	Checks int64 `json:"checks"`
	// ConfigurationErrors is the number of components that cannot be pulled.
	ConfigurationErrors int            `json:"configuration_errors"`
	Suggestions         int64          `json:"suggestions"`
	CeleryQueues        map[string]int `json:"celery_queues"`
	Name                string         `json:"name"`
}

// Task is a background task; here it is always a first import.
type Task struct {
	Completed bool   `json:"completed"`
	Progress  int    `json:"progress"`
	Result    any    `json:"result"`
	Log       string `json:"log"`
}

// Options is the answer to OPTIONS.
type Options struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Renders     []string `json:"renders"`
	Parses      []string `json:"parses"`
}

// Detail is the answer to a request that failed.
type Detail struct {
	Detail string `json:"detail"`
}
