package wire

import "github.com/repoglot/repoglot/catalog/lang"

// Language is a language.
type Language struct {
	Code          string   `json:"code"`
	Name          string   `json:"name"`
	Plural        Plural   `json:"plural"`
	Aliases       []string `json:"aliases"`
	Direction     string   `json:"direction"`
	WebURL        string   `json:"web_url"`
	URL           string   `json:"url"`
	StatisticsURL string   `json:"statistics_url"`
	// Population is of newer Weblates: the number of people who speak it; 0: unknown.
	Population int `json:"population"`
}

// Plural is the default plural of a language (docs/compatibility.md#plurals).
type Plural struct {
	ID      int    `json:"id"`
	Source  int    `json:"source"`
	Number  int    `json:"number"`
	Formula string `json:"formula"`
	Type    int    `json:"type"`
}

// NewLanguage makes the object of a language.
func NewLanguage(l Links, from lang.Language) *Language {
	p := Path("api", "languages", from.Code)
	aliases := from.Aliases
	if aliases == nil {
		aliases = []string{}
	}
	return &Language{
		Code:          from.Code,
		Name:          from.Name,
		Plural:        Plural(from.Plural),
		Aliases:       aliases,
		Direction:     from.Direction,
		WebURL:        l.Web(Path("languages", from.Code)),
		URL:           l.API(p),
		StatisticsURL: l.API(p + "statistics/"),
		Population:    from.Population,
	}
}
