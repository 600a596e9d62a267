package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

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
	newest := int64(0)
	for page := 1; page <= maxPages; page++ {
		query := url.Values{"per_page": {strconv.Itoa(commentPage)}, "page": {strconv.Itoa(page)}, "sort": {"asc"}}
		answer, err := c.call(ctx, http.MethodGet, list, query, nil, http.StatusOK)
		if err != nil {
			return "", fmt.Errorf("list the comments of request %d: %w", number, err)
		}
		all := answer.Array()
		for _, a := range all {
			said := first(a, "body")
			if !strings.HasPrefix(said, marker) || first(a, "user.login", "author.username") != user {
				continue
			}
			if strings.TrimSpace(strings.ReplaceAll(said, "\r", "")) == strings.TrimSpace(text) {
				return "kept", nil
			}
			_, err := c.call(ctx, c.update, one+strconv.FormatInt(a.Get("id").Int(), 10), nil, map[string]string{"body": text}, http.StatusOK)
			return "updated", err
		}
		if len(all) < commentPage || all[0].Get("id").Int() == newest { // Gitea and Forgejo have one page
			break
		}
		newest = all[0].Get("id").Int()
	}
	if only {
		return "", nil
	}
	if _, err := c.call(ctx, http.MethodPost, list, nil, map[string]string{"body": text}, http.StatusCreated); err != nil {
		return "", fmt.Errorf("comment at request %d: %w", number, err)
	}
	return "written", nil
}

// user is the name of whom the token is. GitHub tells that to the tokens of jobs in GraphQL only.
func (c *client) user(ctx context.Context, kind string) (string, error) {
	method, address, in := http.MethodGet, c.api+"/user", map[string]string(nil)
	if kind == "github" {
		method, address, in = http.MethodPost, strings.TrimSuffix(c.api, "/v3")+"/graphql", map[string]string{"query": "{viewer{login}}"}
	}
	me, err := c.call(ctx, method, address, nil, in, http.StatusOK)
	name := first(me, "login", "username", "data.viewer.login")
	if err == nil && name == "" {
		err = ErrAccess
	}
	return name, err
}
