package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// comment is a comment at a request.
type comment struct {
	ID     int64  `json:"id"`
	Body   string `json:"body"`
	System bool   `json:"system"` // GitLab's own
}

// commentPage is the number of comments that are asked for at once.
const commentPage = 100

// KeepComment makes sure that the request of a number has one comment that begins with a marker,
// such as an HTML comment, which is invisible: the first that the token may change gets the body after
// the marker, or a new one is written, unless only is set. Equal bodies are not sent. It returns what was
// done: "kept", "updated", "written", or "" for nothing. Body is cut after MaxBody bytes.
func KeepComment(ctx context.Context, o Options, number int, marker, text string, only bool) (done string, err error) {
	f, err := New(o)
	if err != nil {
		return "", err
	}
	c, text := f.(*client), body(marker+"\n"+text)
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
			if a.System || !strings.HasPrefix(a.Body, marker) {
				continue
			}
			if strings.TrimSpace(strings.ReplaceAll(a.Body, "\r", "")) == strings.TrimSpace(text) {
				return "kept", nil
			}
			err := c.call(ctx, c.update, one+strconv.FormatInt(a.ID, 10), nil, map[string]string{"body": text}, &out, http.StatusOK)
			if err == nil || !errors.Is(err, ErrAccess) && !errors.Is(err, ErrNotFound) { // of somebody else
				return "updated", err
			}
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
