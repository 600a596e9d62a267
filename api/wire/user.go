package wire

// User is a git author (docs/compatibility.md#users).
type User struct {
	Username string `json:"username"`
	FullName string `json:"full_name"`
	// URL, DateJoined (the time of the first commit), StatisticsURL and IsBot
	// (the configuration names a program) are ours.
	URL           string `json:"url"`
	DateJoined    string `json:"date_joined"`
	StatisticsURL string `json:"statistics_url"`
	IsBot         bool   `json:"is_bot"`
}

// UserStatistics are the statistics of a git author over the served
// translations, without source languages.
type UserStatistics struct {
	// Translated is the number of strings that the author's commits changed
	// (change entries 59).
	Translated int64 `json:"translated"`
	Suggested  int64 `json:"suggested"`
	// Uploaded is the number of strings that the author's commits added (change
	// entries 31).
	Uploaded  int64 `json:"uploaded"`
	Commented int64 `json:"commented"`
	// Languages is the number of languages of those strings.
	Languages int `json:"languages"`
}
