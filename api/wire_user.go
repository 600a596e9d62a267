package api

import "time"

// userObject is a git author (decision 25).
type userObject struct {
	Username string `json:"username"`
	FullName string `json:"full_name"`
	// URL, DateJoined (time of the first commit) and StatisticsURL are ours.
	URL           string `json:"url"`
	DateJoined    string `json:"date_joined"`
	StatisticsURL string `json:"statistics_url"`
}

func newUser(l links, username, fullName string, joined time.Time) userObject {
	p := path("api", "users", username)
	return userObject{
		Username:      username,
		FullName:      fullName,
		URL:           l.api(p),
		DateJoined:    unitTime(joined),
		StatisticsURL: l.api(p + "statistics/"),
	}
}
