package forge

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// account is somebody on a forge; GitLab has another word for the name.
type account struct {
	Login    string `json:"login"`
	Username string `json:"username"`
}

func (a account) name() string { return cmp.Or(a.Login, a.Username) }

// comment is a comment at a request; GitLab has another word for whom it is of.
type comment struct {
	ID     int64   `json:"id"`
	Body   string  `json:"body"`
	User   account `json:"user"`
	Author account `json:"author"`
}

// commentPage is the number of comments that are asked for at once.
const commentPage = 100

// KeepComment makes sure that the request of a number has one comment of the token's user that
// begins with a marker, such as an HTML comment, which is invisible: the first gets the text after
// the marker, or a new one is written, unless only is set. Equal texts are not sent. It returns what
// was done: "kept", "updated", "written", or "" for nothing. The text is cut after MaxBody bytes.
func KeepComment(ctx context.Context, o Options, number int, marker, text string, only bool) (done string, err error) {
	f, err := New(o)
	if err != nil {
		return "", err
	}
	c, text := f.(*client), body(marker+"\n"+text)
	user, err := c.user(ctx, o.Kind)
	if err != nil {
		return "", fmt.Errorf("find out whose the token is: %w", err)
	}
	list := strings.TrimSuffix(c.requests, "/pulls") + "/issues/" + strconv.Itoa(number) + "/comments"
	one := strings.TrimSuffix(c.requests, "/pulls") + "/issues/comments/"
	if o.Kind == "gitlab" {
		list = c.requests + "/" + strconv.Itoa(number) + "/notes"
		one = list + "/"
	}
	var out comment
	first := int64(0)
	for page := 1; page <= maxPages; page++ {
		var all []comment
		query := url.Values{"per_page": {strconv.Itoa(commentPage)}, "page": {strconv.Itoa(page)}, "sort": {"asc"}}
		if err := c.call(ctx, http.MethodGet, list, query, nil, &all, http.StatusOK); err != nil {
			return "", fmt.Errorf("list the comments of request %d: %w", number, err)
		}
		for _, a := range all {
			if !strings.HasPrefix(a.Body, marker) || cmp.Or(a.User, a.Author).name() != user {
				continue
			}
			if strings.TrimSpace(strings.ReplaceAll(a.Body, "\r", "")) == strings.TrimSpace(text) {
				return "kept", nil
			}
			return "updated", c.call(ctx, c.update, one+strconv.FormatInt(a.ID, 10), nil, map[string]string{"body": text}, &out, http.StatusOK)
		}
		if len(all) < commentPage || all[0].ID == first { // Gitea and Forgejo have one page
			break
		}
		first = all[0].ID
	}
	if only {
		return "", nil
	}
	if err := c.call(ctx, http.MethodPost, list, nil, map[string]string{"body": text}, &out, http.StatusCreated); err != nil {
		return "", fmt.Errorf("comment at request %d: %w", number, err)
	}
	return "written", nil
}

// user is the name of whom the token is. GitHub tells that to the tokens of jobs in GraphQL only.
func (c *client) user(ctx context.Context, kind string) (string, error) {
	var me struct {
		account
		Data struct{ Viewer account }
	}
	method, address, in := http.MethodGet, c.api+"/user", map[string]string(nil)
	if kind == "github" {
		method, address, in = http.MethodPost, strings.TrimSuffix(c.api, "/v3")+"/graphql", map[string]string{"query": "{viewer{login}}"}
	}
	err := c.call(ctx, method, address, nil, in, &me, http.StatusOK)
	name := cmp.Or(me.name(), me.Data.Viewer.name())
	if err == nil && name == "" {
		err = ErrAccess
	}
	return name, err
}
