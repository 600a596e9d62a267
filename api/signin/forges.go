package signin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/oauth2"

	"github.com/repoglot/repoglot/catalog"
)

// forge is what a kind of forge has of its own.
type forge struct {
	name, public          string // of the public service
	authorize, token, api string // paths
	scopes                []string
	members               string // the scope that says of what somebody is a member
	noreply               func(u *user, host string) string
	member                func(ctx context.Context, c *caller, u *user, named string) (bool, error)
}

// forges are those by kind.
var forges = map[string]forge{
	"github": {
		name: "GitHub", public: "https://github.com", authorize: "/login/oauth/authorize", token: "/login/oauth/access_token", api: "/api/v3",
		members: "read:org", member: githubMember,
		noreply: func(u *user, host string) string { return u.id() + "+" + u.Login + "@users.noreply." + host },
	},
	"gitlab": {
		name: "GitLab", public: "https://gitlab.com", authorize: "/oauth/authorize", token: "/oauth/token", api: "/api/v4",
		scopes: []string{"read_user"}, members: "openid", member: gitlabMember,
		noreply: func(u *user, host string) string {
			if strings.HasPrefix(u.Commit, u.id()) && strings.Contains(u.Commit, "noreply") { // it may have a host of its own
				return u.Commit
			}
			return u.id() + "-" + u.Username + "@users.noreply." + host
		},
	},
	"gitea": gitea, "forgejo": gitea,
}

var gitea = forge{
	authorize: "/login/oauth/authorize", token: "/login/oauth/access_token", api: "/api/v1",
	scopes: []string{"read:user"}, members: "read:organization", member: giteaMember,
	noreply: func(u *user, host string) string { return strings.ToLower(u.Login) + "@noreply." + host },
}

// user is an account as forges have it.
type user struct {
	ID       int64  `json:"id"`
	Login    string `json:"login"`
	Username string `json:"username"` // of GitLab
	Name     string `json:"name"`
	FullName string `json:"full_name"`    // of Gitea
	Email    string `json:"email"`        // of Gitea, which strangers are shown a noreply one of
	Commit   string `json:"commit_email"` // of GitLab
}

func (u *user) id() string { return strconv.FormatInt(u.ID, 10) }

func (u *user) login() string { return cmp.Or(u.Login, u.Username) }

// base is the provider's address.
func (p *Provider) base() string {
	return strings.TrimRight(cmp.Or(p.URL, forges[p.Kind].public), "/")
}

// caller asks the API of a forge with somebody's token.
type caller struct {
	client *http.Client
	base   string // of the forge
	api    string
}

// ask asks a forge whose token it is.
func (p *Provider) ask(ctx context.Context, f *forge, token *oauth2.Token, a *catalog.Account) error {
	c := &caller{client: &http.Client{
		Timeout: timeout, CheckRedirect: p.client.CheckRedirect,
		Transport: &oauth2.Transport{Source: oauth2.StaticTokenSource(token), Base: p.client.Transport},
	}, base: p.base(), api: p.base() + f.api}
	host := c.base
	if u, err := url.Parse(c.base); err == nil {
		host = u.Hostname()
	}
	if p.Kind == "github" && host == "github.com" {
		c.api = "https://api.github.com"
	}
	var u user
	if status, err := c.get(ctx, c.api+"/user", &u); err != nil || status != http.StatusOK || u.ID <= 0 || u.login() == "" {
		return cmp.Or(err, fmt.Errorf("%w: asked who it is, it answers with status %d", ErrAway, status))
	}
	a.Subject, a.Name, a.AuthorName, a.AuthorEmail = u.id(), u.login(), cmp.Or(strings.TrimSpace(u.Name), strings.TrimSpace(u.FullName), u.login()), f.noreply(&u, host)
	if f.public == "" { // it says which address it makes to those who have no token
		var seen user
		stranger := &caller{client: p.client}
		if status, err := stranger.get(ctx, c.api+"/users/"+url.PathEscape(u.Login), &seen); err == nil && status == http.StatusOK && seen.ID == u.ID && strings.Contains(seen.Email, "noreply") {
			a.AuthorEmail = seen.Email
		}
	}
	for _, named := range p.Members {
		if is, err := f.member(ctx, c, &u, named); is || err != nil {
			return err
		}
	}
	if len(p.Members) > 0 {
		return fmt.Errorf("%w: %s:%s", ErrNoMember, p.ID, a.Name)
	}
	return nil
}

// get reads an answer into out if its status is 200.
func (c *caller) get(ctx context.Context, address string, out any) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, failed(err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "repoglot")
	resp, err := c.client.Do(req)
	if err != nil {
		return 0, failed(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode == http.StatusOK {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return resp.StatusCode, failed(err)
	}
	return resp.StatusCode, nil
}

// known is an answer about a membership: yes, no, or none.
func known(status int, is bool, err error) (bool, error) {
	if err == nil && status >= http.StatusInternalServerError {
		err = fmt.Errorf("%w: asked for a membership, it answers with status %d", ErrAway, status)
	}
	return err == nil && status == http.StatusOK && is, err
}

func githubMember(ctx context.Context, c *caller, u *user, named string) (bool, error) {
	org, team, _ := strings.Cut(named, "/")
	path := "/user/memberships/orgs/" + url.PathEscape(org)
	if team != "" {
		path = "/orgs/" + url.PathEscape(org) + "/teams/" + url.PathEscape(team) + "/memberships/" + url.PathEscape(u.Login)
	}
	var m struct {
		State string `json:"state"`
	}
	status, err := c.get(ctx, c.api+path, &m)
	return known(status, m.State == "active", err)
}

func gitlabMember(ctx context.Context, c *caller, _ *user, named string) (bool, error) {
	var m struct {
		Groups []string `json:"groups"`
	}
	status, err := c.get(ctx, c.base+"/oauth/userinfo", &m)
	return known(status, slices.ContainsFunc(m.Groups, func(group string) bool { return strings.EqualFold(group, named) }), err)
}

// maxTeams bounds the pages of somebody's teams.
const maxTeams = 20

// giteaMember looks through the teams, one of which every member of an organisation is in.
func giteaMember(ctx context.Context, c *caller, _ *user, named string) (bool, error) {
	org, team, _ := strings.Cut(named, "/")
	for page := 1; page <= maxTeams; page++ {
		var list []struct {
			Name         string `json:"name"`
			Organization struct {
				Name     string `json:"name"`
				Username string `json:"username"`
			} `json:"organization"`
		}
		status, err := c.get(ctx, c.api+"/user/teams?limit=50&page="+strconv.Itoa(page), &list)
		for _, t := range list {
			if strings.EqualFold(cmp.Or(t.Organization.Name, t.Organization.Username), org) && (team == "" || strings.EqualFold(t.Name, team)) {
				return known(status, true, err)
			}
		}
		if err != nil || len(list) == 0 {
			return known(status, false, err)
		}
	}
	return false, nil
}
