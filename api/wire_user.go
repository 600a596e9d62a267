package api

import "github.com/repoglot/repoglot/catalog/store"

// userObject is a git author (decision 25).
type userObject struct {
	Username string `json:"username"`
	FullName string `json:"full_name"`
	// URL, DateJoined (time of the first commit), StatisticsURL and IsBot (the
	// configuration calls it a program) are ours.
	URL           string `json:"url"`
	DateJoined    string `json:"date_joined"`
	StatisticsURL string `json:"statistics_url"`
	IsBot         bool   `json:"is_bot"`
}

func newUser(l links, u *store.User) userObject {
	p := path("api", "users", u.Username)
	return userObject{
		Username:      u.Username,
		FullName:      u.FullName,
		URL:           l.api(p),
		DateJoined:    unitTime(u.Joined),
		StatisticsURL: l.api(p + "statistics/"),
		IsBot:         u.Bot,
	}
}
