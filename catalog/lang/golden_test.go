package lang

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

// sharedDir has the recorded answers, next to the repository.
const sharedDir = "../../../shared/data/golden"

// recordedLanguage is the language object of a recorded answer. Unknown
// fields are an error, so that no field goes unexamined.
type recordedLanguage struct {
	Code      string          `json:"code"`
	Name      string          `json:"name"`
	Direction string          `json:"direction"`
	Aliases   []string        `json:"aliases"`
	Plural    recordedPlural  `json:"plural"`
	ID        json.RawMessage `json:"id"`         // intended difference: not served
	Populace  int             `json:"population"` // our language-data is newer
	WebURL    json.RawMessage `json:"web_url"`    // the API's business
	URL       json.RawMessage `json:"url"`
	Stats     json.RawMessage `json:"statistics_url"`
}

// recordedPlural is its plural object.
type recordedPlural struct {
	ID      int    `json:"id"` // intended difference: ours is derived from the code
	Source  int    `json:"source"`
	Number  int    `json:"number"`
	Formula string `json:"formula"`
	Type    int    `json:"type"`
}

// recordedTranslation has the fields of a translation that this test needs.
type recordedTranslation struct {
	Language     json.RawMessage `json:"language"`
	LanguageCode string          `json:"language_code"`
	Filename     string          `json:"filename"`
}

// intendedPlurals lists the languages whose default plural differs between our
// language-data and the recorded release.
func intendedPlurals() map[string]recordedPlural {
	return map[string]recordedPlural{
		"cv": {Number: 2, Formula: "n != 1", Type: 1},
		"tg": {Number: 1, Formula: "0", Type: 0},
	}
}

// intendedAliases lists the aliases that our language-data has and the recorded release
// does not.
func intendedAliases() map[string][]string {
	return map[string][]string{
		"ar": {"arb"}, "ay": {"ayr"}, "az": {"azj"}, "cr": {"cwd"}, "dz": {"adp"},
		"et": {"ekk"}, "fa": {"pes"}, "ff": {"fuc"}, "gu": {"prp"}, "ik": {"esk"},
		"iu": {"ike"}, "kg": {"kng"}, "kr": {"knc"}, "kv": {"kpv"}, "lv": {"lvs"},
		"mg": {"plt"}, "mn": {"drh", "khk"}, "ms": {"zsm"}, "ne": {"npi"},
		"oj": {"ojg"}, "om": {"gaz"}, "or": {"ory"}, "ps": {"pbu"}, "qu": {"quz"},
		"ro": {"mol"}, "sa": {"cls"}, "sc": {"src"}, "sq": {"als"}, "sw": {"swh"},
		"uz": {"uzn"}, "yi": {"ydd"}, "za": {"zyb"},
		"zh_Hans": {"cmn_hans", "zh_simplified"},
		"zh_Hant": {"cmn_hant", "zh_traditional"},
	}
}

// intendedOrder lists the languages whose common aliases are in another order, as
// language-data moved rows.
func intendedOrder() map[string]bool {
	return map[string]bool{"sr_Latn": true, "zh_Hans": true, "zh_Hant": true}
}

// Every recorded language object must equal ours, except for the differences listed
// above. A listed difference that does not occur is a failure, too.
func TestRecordedLanguages(t *testing.T) {
	table := newTable(t)
	recorded := readRecorded(t)
	if len(recorded.languages) != 200 {
		t.Errorf("%d languages were recorded, want 200", len(recorded.languages))
	}
	plurals, aliases, order := intendedPlurals(), intendedAliases(), intendedOrder()
	for code, want := range recorded.languages {
		got, ok := table.ByCode(code)
		if !ok {
			t.Errorf("%s is not in the table", code)
			continue
		}
		if got.Name != want.Name || got.Direction != want.Direction {
			t.Errorf("%s: %q %s, recorded %q %s", code, got.Name, got.Direction, want.Name, want.Direction)
		}
		if got.Population < want.Populace/10 || want.Populace > 0 && got.Population > want.Populace*10 {
			t.Errorf("%s: population %d, recorded %d", code, got.Population, want.Populace)
		}
		wantPlural := want.Plural
		wantPlural.ID = 0
		ourPlural := recordedPlural{0, got.Plural.Source, got.Plural.Number, got.Plural.Formula, got.Plural.Type}
		if intended, ok := plurals[code]; ok && wantPlural == intended && ourPlural != intended {
			delete(plurals, code)
		} else if diff := cmp.Diff(wantPlural, ourPlural); diff != "" {
			t.Errorf("%s: plural -recorded +got:\n%s", code, diff)
		}
		var extra, common []string
		for _, alias := range got.Aliases {
			if slices.Contains(want.Aliases, alias) {
				common = append(common, alias)
			} else {
				extra = append(extra, alias)
			}
		}
		slices.Sort(extra)
		if diff := cmp.Diff(aliases[code], extra); diff != "" {
			t.Errorf("%s: additional aliases -intended +got:\n%s", code, diff)
		}
		delete(aliases, code)
		if order[code] && !slices.Equal(want.Aliases, common) {
			delete(order, code)
			slices.Sort(want.Aliases)
			slices.Sort(common)
		}
		if !slices.Equal(want.Aliases, common) {
			t.Errorf("%s: aliases %q, recorded %q", code, common, want.Aliases)
		}
	}
	if len(plurals) > 0 || len(aliases) > 0 || len(order) > 0 {
		t.Errorf("intended, but not met: plurals %v, aliases %v, order %v", plurals, aliases, order)
	}
}

// Every file's code must mean the language that Weblate found for it.
func TestRecordedFileCodes(t *testing.T) {
	table := newTable(t)
	recorded := readRecorded(t)
	if len(recorded.files) < 250 {
		t.Errorf("only %d files were recorded", len(recorded.files))
	}
	other := 0
	for _, f := range recorded.files {
		if got := table.Match(f.fileCode); got.Code != f.language {
			t.Errorf("%s: %q is %s, recorded %s", f.filename, f.fileCode, got.Code, f.language)
		}
		if got, ok := table.Lookup(f.fileCode); !ok || got.Code != f.language {
			t.Errorf("%s: a URL with %q means %q, recorded %s", f.filename, f.fileCode, got.Code, f.language)
		}
		if f.fileCode != f.language {
			other++
		}
	}
	if other < 10 {
		t.Errorf("only %d files have a code that is not their language's", other)
	}
}

// recordedFile is one translation file and the language that Weblate found.
type recordedFile struct{ filename, fileCode, language string }

// recording has all recorded answers with language objects.
type recording struct {
	languages map[string]recordedLanguage
	files     []recordedFile
}

// readRecorded reads the recording. Without the shared folder the test is skipped,
// except in CI.
func readRecorded(t *testing.T) *recording {
	t.Helper()
	if _, err := os.Stat(sharedDir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the recorded answers must be there in CI: %v", err)
		}
		t.Skipf("skipped, the recorded answers are not there: %v", err)
	}
	r := &recording{languages: map[string]recordedLanguage{}}
	for _, rev := range []string{"rev1", "rev2"} {
		r.addLanguage(t, readHTTP(t, rev+"/language_cs.http"))
		for _, page := range listOf[json.RawMessage](t, readHTTP(t, rev+"/languages_list.http")) {
			r.addLanguage(t, page)
		}
		r.addTranslations(t, readHTTP(t, rev+"/translations_list.http"))
	}
	for _, name := range []string{"django", "dnf", "hello", "switchboard", "vim"} {
		r.addTranslations(t, readGzip(t, "units/"+name+".translations.json.gz"))
	}
	return r
}

// addTranslations takes a list of translations.
func (r *recording) addTranslations(t *testing.T, body []byte) {
	t.Helper()
	for _, tr := range listOf[recordedTranslation](t, body) {
		code := r.addLanguage(t, tr.Language)
		r.files = append(r.files, recordedFile{tr.Filename, tr.LanguageCode, code})
	}
}

// addLanguage takes one language object and returns its code.
func (r *recording) addLanguage(t *testing.T, body []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	var l recordedLanguage
	must(t, dec.Decode(&l))
	r.languages[l.Code] = l
	return l.Code
}

// listOf decodes a page of results or a bare list.
func listOf[T any](t *testing.T, body []byte) []T {
	t.Helper()
	var list []T
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		err = json.Unmarshal(body, &list)
	} else {
		var page struct{ Results []T }
		err = json.Unmarshal(body, &page)
		list = page.Results
	}
	if err != nil || len(list) == 0 {
		t.Fatalf("%d results: %v", len(list), err)
	}
	return list
}

// readHTTP returns the body of a recorded answer.
func readHTTP(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sharedDir, name))
	must(t, err)
	head, body, ok := strings.Cut(string(data), "\r\n\r\n")
	if !ok || !strings.Contains(head, " 200 ") {
		t.Fatalf("%s is not a good answer", name)
	}
	return []byte(body)
}

// readGzip returns the text of a compressed file.
func readGzip(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedDir, name))
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	data, err := io.ReadAll(z)
	must(t, err)
	return data
}

var must = gittest.Must
