package api_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// isList says whether an exchange pages through a list.
func isList(r record) bool {
	path, _, _ := strings.Cut(r.target, "?")
	path = strings.TrimSuffix(path, "/") + "/"
	return path == "/api/languages/" || strings.HasSuffix(path, "/units/") || strings.HasSuffix(path, "/statistics/") && strings.HasPrefix(path, "/api/components/") || strings.HasSuffix(path, "/components/demo/rich/translations/") || strings.HasSuffix(path, "/components/demo/hello/translations/")
}

// intended is our answer where it differs from the recorded one.
type intended struct {
	status  int
	headers bool   // headers are compared
	body    string // the exact body, "" if it is compared with the recorded one
}

// intendedOf is the outcome of an exchange: the recorded one, except where ours
// differs on purpose.
func intendedOf(r record) intended {
	const anonymous = `{"detail":"Authentication credentials were not provided. This server is read-only, with any token: to change a string, push a commit to its repository; to have it pulled at once, POST /hooks/update/PROJECT/COMPONENT/."}`
	const refused = `{"detail":"You do not have permission to perform this action. This server is read-only, with any token: to change a string, push a commit to its repository; to have it pulled at once, POST /hooks/update/PROJECT/COMPONENT/."}`
	switch r.name {
	case "post_units_anon", "put_unit_anon", "post_repository_anon":
		return intended{status: 401, headers: true, body: anonymous} // says what to do instead
	case "post_repository_badop", "post_repository_empty":
		return intended{status: 403, body: refused} // refused before it is read (docs/compatibility.md#writes)
	case "post_units_auth":
		return intended{status: 403, headers: true, body: refused} // the recorded text explains that component's setting
	}
	if r.status == 404 && strings.Contains(string(r.body), "matches the given query") {
		return intended{status: 404, headers: true, body: notFound} // the text of 4.x
	}
	return intended{status: r.status, headers: true}
}

// extraKeys are fields that are newer than the API that we serve.
var extraKeys = []string{
	"labels", "last_updated", "categories_url", "labels_url", "screenshot_filemask", "linked_component", "categories",
}

// ignored are fields whose values cannot agree: path suffix → reason.
var ignored = map[string]string{
	".population":           "our language-data is newer",
	".id":                   "ids are our own (docs/compatibility.md#ids)",
	".timestamp":            "when it was imported (docs/compatibility.md#history)",
	".last_change":          "the recorded service made entries at import; docs/compatibility.md#last-change",
	".last_author":          "docs/compatibility.md#last-change",
	".repo":                 "here a clone in a directory of the test",
	".branch":               "the bundle's own branch",
	".source_unit":          "ids are our own; unit by unit in mapUnits",
	"metrics.checks":        "metrics: other strings were there",
	".has_comment":          "ours: translator comments are comments",
	".have_comment":         "ours: translator comments are comments",
	".comments":             "ours: translator comments are comments",
	".recent_changes":       "docs/compatibility.md#last-change: entries of the repository count here",
	".remote_commit":        "the recorded clone had lost its remote; ours is the commit that weblate_commit shows",
	".author":               "docs/compatibility.md#repository-status: names without addresses",
	".commit":               "docs/compatibility.md#repository-status: names without addresses",
	".author_email":         "docs/compatibility.md#repository-status: empty",
	".commit_email":         "docs/compatibility.md#repository-status: empty",
	"metrics.users":         "docs/compatibility.md#users: users are git authors",
	"metrics.changes":       "metrics: what counts as a change differs (docs/compatibility.md#change-entries)",
	"metrics.projects":      "metrics: other projects were there",
	"metrics.components":    "metrics: other components were there",
	"metrics.translations":  "metrics: other translations were there",
	"metrics.name":          "the title of the service",
	"metrics.celery_queues": "metrics: there are no such queues here",
}

// added are our keys that were not recorded, by a key that tells the kind of
// the object; they come last.
var added = map[string][]string{
	"errors":       {"errors", "type"}, // of 5.10
	"filemask":     {"locked"},         // of newer Weblates
	"source_unit":  {"language_code"},  // likewise
	"have_comment": {"missing"},
	"total_chars": {
		"translate_url", "component", "project", "url_translate", "last_author", // of 4.x, read by clients
		"missing",
	},
}

// ordered names the objects whose keys have the recorded order, without the
// extra ones; project and component have the order of 4.x
// (docs/compatibility.md#json).
var unordered = regexp.MustCompile(`(^|\.)(project|component)$`)

// value is JSON that remembers the order of keys.
type value struct {
	keys   []string
	fields map[string]*value
	items  []*value
	isList bool
	scalar string
}

func parse(tb testing.TB, data []byte) *value {
	tb.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := parseValue(dec)
	if err != nil {
		tb.Fatalf("%v in %.200s", err, data)
	}
	return v
}

func parseValue(dec *json.Decoder) (*value, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return &value{scalar: fmt.Sprintf("%T %v", token, token)}, nil
	}
	v := &value{isList: delim == '['}
	if !v.isList {
		v.fields = map[string]*value{}
	}
	for dec.More() {
		if v.isList {
			item, err := parseValue(dec)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
			continue
		}
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name := fmt.Sprint(key)
		v.keys = append(v.keys, name)
		if v.fields[name], err = parseValue(dec); err != nil {
			return nil, err
		}
	}
	_, err = dec.Token()
	return v, err
}

// comparer collects the differences between a recorded body and ours.
type comparer struct {
	// met collects the keys of ignored that were used.
	met map[string]bool
	// nonsenseSize marks an exchange whose page_size is ignored.
	nonsenseSize bool
	// metrics marks the answer of that name.
	metrics  bool
	problems []string
}

func (c *comparer) failf(at, format string, args ...any) {
	c.problems = append(c.problems, at+": "+fmt.Sprintf(format, args...))
}

func (c *comparer) compare(at string, recorded, ours *value) {
	for suffix := range ignored {
		if strings.HasSuffix(at, suffix) || suffix == "metrics"+at && c.metrics {
			c.met[suffix] = true
			c.compareForm(at, recorded, ours)
			return
		}
	}
	switch {
	case recorded.fields != nil && ours.fields != nil:
		c.compareObject(at, recorded, ours)
	case recorded.isList && ours.isList:
		c.compareList(at, recorded, ours)
	default:
		if want, got := normalRecorded(recorded.scalar), normalOurs(ours.scalar); want != got {
			c.failf(at, "%s, recorded %s", got, want)
		}
	}
}

// compareForm compares what kind of values two are; either may be null.
func (c *comparer) compareForm(at string, recorded, ours *value) {
	want, got := recorded.kind(), ours.kind()
	switch {
	case want == "<nil>" || got == "<nil>":
	case want != got:
		c.failf(at, "a %s, recorded a %s", got, want)
	case stamp.MatchString(recorded.scalar) && !stamp.MatchString(ours.scalar):
		c.failf(at, "%s is not a time as %s is", ours.scalar, recorded.scalar)
	}
}

// stamp is a time in a value's scalar; a whole second has no fraction.
var stamp = regexp.MustCompile(`^string \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$`)

func (v *value) kind() string {
	switch {
	case v.fields != nil:
		return "object"
	case v.isList:
		return "list"
	}
	kind, _, _ := strings.Cut(v.scalar, " ")
	return kind
}

func (c *comparer) compareObject(at string, recorded, ours *value) {
	var wanted []string
	for _, key := range recorded.keys {
		extra := slices.Contains(extraKeys, key) || key == "id" && ours.fields["plural"] != nil // docs/compatibility.md#json
		if extra {
			continue
		}
		if key != "population" { // added last (docs/compatibility.md#versions-and-sources)
			wanted = append(wanted, key)
		}
		if ours.fields[key] == nil {
			c.failf(at, "%s is missing", key)
			continue
		}
		c.compare(at+"."+key, recorded.fields[key], ours.fields[key])
	}
	var known []string
	for _, key := range ours.keys {
		switch {
		case key == "population" && recorded.fields[key] != nil:
		case recorded.fields[key] != nil:
			known = append(known, key)
		case !isAdded(ours, key):
			c.failf(at, "%s was not recorded", key)
		}
	}
	if n := len(known); !slices.Equal(known, ours.keys[:n]) {
		c.failf(at, "keys %v: a key that was not recorded is not last", ours.keys)
	}
	component := ours.fields["filemask"] != nil || ours.fields["components_list_url"] != nil
	if !slices.Equal(wanted, known) && !unordered.MatchString(at) && !component {
		c.failf(at, "keys %v, recorded %v", ours.keys, wanted)
	}
}

func isAdded(ours *value, key string) bool {
	for of, keys := range added {
		if ours.fields[of] != nil && slices.Contains(keys, key) {
			return true
		}
	}
	return false
}

func (c *comparer) compareList(at string, recorded, ours *value) {
	if strings.HasSuffix(at, ".aliases") { // the list changes with releases: ours is newer
		for _, alias := range recorded.items {
			if !slices.ContainsFunc(ours.items, func(v *value) bool { return v.scalar == alias.scalar }) {
				c.failf(at, "%s is missing", alias.scalar)
			}
		}
		return
	}
	if at == ".results" && c.nonsenseSize { // 20 a page where page_size is ignored (docs/compatibility.md#paging)
		recorded.items = recorded.items[:min(20, len(recorded.items))]
	}
	if len(recorded.items) != len(ours.items) {
		c.failf(at, "%d elements, recorded %d", len(ours.items), len(recorded.items))
		return
	}
	for i := range recorded.items {
		c.compare(fmt.Sprintf("%s[%d]", at, i), recorded.items[i], ours.items[i])
	}
}

var (
	recordedUnit = regexp.MustCompile(`(\?checksum=)0+`)
	oursFormat   = regexp.MustCompile(`\?format=api$`)
	addedSize    = regexp.MustCompile(`[?&]page_size=(50|100)$`)
	anyUnit      = regexp.MustCompile(`/api/units/\d+/`)
)

// normalRecorded brings a recorded value into the specification's form.
func normalRecorded(s string) string {
	s = recordedUnit.ReplaceAllString(s, "$1")                    // checksums without padding (docs/compatibility.md#hashes)
	s = strings.Replace(s, "/engage/demo/-/", "/engage/demo/", 1) // the form of 4.x
	s = anyUnit.ReplaceAllString(s, "/api/units/N/")              // ids are our own
	return crlf(s)
}

// normalOurs takes away what the recorded requests did not ask for.
func normalOurs(s string) string {
	s = oursFormat.ReplaceAllString(s, "") // links end with ?format=api (docs/compatibility.md#format-parameter)
	s = strings.Replace(s, "?format=api&", "?", 1)
	s = addedSize.ReplaceAllString(s, "") // see compare (docs/compatibility.md#paging)
	return anyUnit.ReplaceAllString(s, "/api/units/N/")
}

// crlf gives message templates their line breaks
// (docs/compatibility.md#message-templates).
func crlf(s string) string {
	if !strings.Contains(s, "{{") {
		return s
	}
	return strings.ReplaceAll(s, "\n", "\r\n")
}

// compareCSV compares exports of strings. Intended differences: we have a row for
// every plural form where the recorded one has the first form alone, and all
// references of a string where it has the last one.
func compareCSV(t *testing.T, recorded, ours []byte) {
	t.Helper()
	want, err := csv.NewReader(bytes.NewReader(recorded)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(ours)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	forms := 0
	var got [][]string
	for i, row := range rows {
		if i > 1 && row[0] == rows[i-1][0] && row[0] != "" && row[5] == rows[i-1][5] {
			forms++
			continue
		}
		row[0] = row[0][strings.LastIndex(row[0], " ")+1:]
		got = append(got, row)
	}
	if forms == 0 || len(got) != len(want) {
		t.Errorf("%d rows and %d of further forms, recorded %d", len(got), forms, len(want))
	}
	for i := range want {
		if i < len(got) && !slices.Equal(got[i], want[i]) {
			t.Errorf("row %d: %q, recorded %q", i, got[i], want[i])
		}
	}
}
