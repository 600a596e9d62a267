package wire

// User is a git author (decision 25).
type User struct {
	Username string `json:"username"`
	FullName string `json:"full_name"`
	// URL, DateJoined (time of the first commit), StatisticsURL and IsBot (the
	// configuration calls it a program) are ours.
	URL           string `json:"url"`
	DateJoined    string `json:"date_joined"`
	StatisticsURL string `json:"statistics_url"`
	IsBot         bool   `json:"is_bot"`
}

// UserStatistics are those of a git author (facts §6), over the translations
// that are served, without those of the source languages.
type UserStatistics struct {
	// Translated is how many strings the author's commits changed (entries 59).
	Translated int64 `json:"translated"`
	Suggested  int64 `json:"suggested"`
	// Uploaded is how many strings came with the author's commits (entries 31).
	Uploaded  int64 `json:"uploaded"`
	Commented int64 `json:"commented"`
	// Languages is how many languages they are of.
	Languages int `json:"languages"`
}
