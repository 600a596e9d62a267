package wire

import (
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// StatisticsPoint is the statistics at the end of an interval; ours. Its keys
// are those keys of Statistics that have a history.
type StatisticsPoint struct {
	First                  string  `json:"first_day"`
	Last                   string  `json:"last_day"`
	Total                  int64   `json:"total"`
	TotalWords             int64   `json:"total_words"`
	TotalChars             int64   `json:"total_chars"`
	Translated             int64   `json:"translated"`
	TranslatedWords        int64   `json:"translated_words"`
	TranslatedPercent      Percent `json:"translated_percent"`
	TranslatedWordsPercent Percent `json:"translated_words_percent"`
	TranslatedChars        int64   `json:"translated_chars"`
	TranslatedCharsPercent Percent `json:"translated_chars_percent"`
	Fuzzy                  int64   `json:"fuzzy"`
	FuzzyPercent           Percent `json:"fuzzy_percent"`
	FuzzyWords             int64   `json:"fuzzy_words"`
	FuzzyWordsPercent      Percent `json:"fuzzy_words_percent"`
	FuzzyChars             int64   `json:"fuzzy_chars"`
	FuzzyCharsPercent      Percent `json:"fuzzy_chars_percent"`
	ReadOnly               int64   `json:"readonly"`
	ReadOnlyPercent        Percent `json:"readonly_percent"`
	ReadOnlyWords          int64   `json:"readonly_words"`
	ReadOnlyWordsPercent   Percent `json:"readonly_words_percent"`
	ReadOnlyChars          int64   `json:"readonly_chars"`
	ReadOnlyCharsPercent   Percent `json:"readonly_chars_percent"`
}

// NewStatisticsPoint makes the object of a point in time.
func NewStatisticsPoint(p *catalog.Point) StatisticsPoint {
	s := &p.Stats
	all, done, fuzzy, fixed := &s.Total, &s.Translated, &s.Fuzzy, &s.ReadOnly
	return StatisticsPoint{
		First: p.First.Format(time.DateOnly), Last: p.Last.Format(time.DateOnly),
		Total: all.Units, TotalWords: all.Words, TotalChars: all.Chars,
		Translated: done.Units, TranslatedPercent: shareDone(done.Units, all.Units),
		TranslatedWords: done.Words, TranslatedWordsPercent: shareDone(done.Words, all.Words),
		TranslatedChars: done.Chars, TranslatedCharsPercent: shareDone(done.Chars, all.Chars),
		Fuzzy: fuzzy.Units, FuzzyPercent: share(fuzzy.Units, all.Units),
		FuzzyWords: fuzzy.Words, FuzzyWordsPercent: share(fuzzy.Words, all.Words),
		FuzzyChars: fuzzy.Chars, FuzzyCharsPercent: share(fuzzy.Chars, all.Chars),
		ReadOnly: fixed.Units, ReadOnlyPercent: share(fixed.Units, all.Units),
		ReadOnlyWords: fixed.Words, ReadOnlyWordsPercent: share(fixed.Words, all.Words),
		ReadOnlyChars: fixed.Chars, ReadOnlyCharsPercent: share(fixed.Chars, all.Chars),
	}
}
