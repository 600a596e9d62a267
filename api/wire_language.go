package api

import "github.com/repoglot/repoglot/catalog/lang"

// languageObject is the language object of the specification.
type languageObject struct {
	Code          string       `json:"code"`
	Name          string       `json:"name"`
	Plural        pluralObject `json:"plural"`
	Aliases       []string     `json:"aliases"`
	Direction     string       `json:"direction"`
	WebURL        string       `json:"web_url"`
	URL           string       `json:"url"`
	StatisticsURL string       `json:"statistics_url"`
}

// pluralObject is the default plural of a language (facts §2).
type pluralObject struct {
	ID      int    `json:"id"`
	Source  int    `json:"source"`
	Number  int    `json:"number"`
	Formula string `json:"formula"`
	Type    int    `json:"type"`
}

func newLanguage(l links, from lang.Language) *languageObject {
	p := path("api", "languages", from.Code)
	aliases := from.Aliases
	if aliases == nil {
		aliases = []string{}
	}
	return &languageObject{
		Code: from.Code,
		Name: from.Name,
		Plural: pluralObject{
			ID: from.Plural.ID, Source: from.Plural.Source, Number: from.Plural.Number,
			Formula: from.Plural.Formula, Type: from.Plural.Type,
		},
		Aliases:       aliases,
		Direction:     from.Direction,
		WebURL:        l.web(path("languages", from.Code)),
		URL:           l.api(p),
		StatisticsURL: l.api(p + "statistics/"),
	}
}

// language returns the language that a translation's code names: one of the
// table, else what a file of that code matches, and for a second file of a
// language a variant under its own code (decision 13).
func (s *Server) language(code string) lang.Language {
	if l, ok := s.langs.ByCode(code); ok {
		return l
	}
	l := s.langs.Match(code)
	if l.Code != code {
		l = s.langs.Variant(code, l)
	}
	return l
}
