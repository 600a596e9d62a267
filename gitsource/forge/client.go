package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// client speaks to one forge.
type client struct {
	service
	Options
	api      string // its address
	requests string // the address of the requests
	http     *http.Client
}

const (
	maxAnswer = 8 << 20 // a page of requests with long texts
	maxTitle  = 250
	// MaxBody bounds a request's text: GitHub takes 65,536 characters.
	MaxBody = 60_000
)

// call asks for an address, with a query for a list. Another status than want is an error.
func (c *client) call(ctx context.Context, method, address string, query url.Values, in map[string]string, want int) (answer gjson.Result, err error) {
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return answer, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return answer, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	req.Header.Set(c.login[0], c.login[1]+c.Token)
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("User-Agent", "repoglot")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer, c.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return answer, c.unreachable(ctx, err)
	case resp.StatusCode != want:
		return answer, c.fail(resp, data)
	case len(data) > maxAnswer:
		return answer, fmt.Errorf("%w: its answer has more than %d bytes", ErrUnavailable, maxAnswer)
	}
	if answer = gjson.ParseBytes(data); !json.Valid(data) || answer.IsObject() != (query == nil) {
		return gjson.Result{}, fmt.Errorf("%w: its answer is no JSON of this kind", ErrUnavailable)
	}
	return answer, nil
}

// unreachable is the error of a call without an answer, with the address, which has no secret.
func (c *client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return fmt.Errorf("%w: %s", ErrUnavailable, c.short(err.Error()))
}

// fail is the error of an answer.
func (c *client) fail(resp *http.Response, body []byte) error {
	if after, ok := c.limited(resp); ok {
		return &LimitError{after}
	}
	said := c.said(body)
	kind := ErrRefused
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		kind = ErrAccess
	case code == http.StatusNotFound:
		kind = ErrNotFound
	case code == http.StatusConflict, code == http.StatusUnprocessableEntity && strings.Contains(said, "already exists"):
		kind = ErrExists
	case code >= 300 && code < 400:
		return fmt.Errorf("%w: it redirects (status %d), which is not followed: correct forge_url and the repository", ErrUnavailable, code)
	case code >= 500, code < 300:
		kind = ErrUnavailable
	}
	if said != "" {
		said = ": " + said
	}
	return fmt.Errorf("%w (status %d)%s", kind, resp.StatusCode, said)
}

const (
	shortestWait = time.Second
	usualWait    = time.Minute
	longestWait  = 24 * time.Hour
)

// limited says whether there were too many requests, and how long to wait: Retry-After, else
// until GitHub's X-RateLimit-Reset or GitLab's RateLimit-Reset, else a minute.
func (c *client) limited(resp *http.Response) (time.Duration, bool) {
	h := resp.Header
	remaining := h.Get("X-RateLimit-Remaining") == "0" || h.Get("RateLimit-Remaining") == "0"
	retry := h.Get("Retry-After")
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
	case http.StatusForbidden:
		if !remaining && retry == "" {
			return 0, false
		}
	case http.StatusServiceUnavailable:
		if retry == "" {
			return 0, false
		}
	default:
		return 0, false
	}
	wait := usualWait
	if seconds, err := strconv.Atoi(retry); err == nil {
		wait = time.Duration(min(max(seconds, 0), int(longestWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(retry); err == nil {
		wait = at.Sub(c.Now())
	} else {
		for _, name := range []string{"X-RateLimit-Reset", "RateLimit-Reset"} {
			if at, err := strconv.ParseInt(h.Get(name), 10, 64); err == nil {
				wait = time.Unix(at, 0).Sub(c.Now())
				break
			}
		}
	}
	return min(max(wait, shortestWait), longestWait), true
}

// said returns the message of an error: of GitHub and Gitea "message" and the messages
// of "errors", of GitLab "message", a text or a list or an object, or "error".
func (c *client) said(body []byte) string {
	if !json.Valid(body) {
		return ""
	}
	var words []string
	for _, path := range []string{"message", "error", "errors"} {
		words = append(words, texts(gjson.GetBytes(body, path), 0)...)
	}
	return c.short(strings.Join(words, "; "))
}

// texts returns the texts in a JSON value.
func texts(value gjson.Result, depth int) (words []string) {
	message := value.Get("message")
	switch {
	case depth > 3:
	case value.Type == gjson.String && value.Str != "":
		return []string{value.Str}
	case value.IsObject() && message.Exists():
		return texts(message, depth+1)
	case value.IsObject() || value.IsArray():
		for _, item := range value.All() {
			words = append(words, texts(item, depth+1)...)
		}
	}
	return words
}

// short makes a text of a forge one line of bounded length, without the token.
func (c *client) short(s string) string {
	s = strings.ReplaceAll(s, c.Token, "…")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return strings.TrimSpace(cut(s, 300))
}

// cut cuts a text after a number of bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// title returns a title that every forge takes.
func title(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if runes := []rune(s); len(runes) > maxTitle {
		s = string(runes[:maxTitle-1]) + "…"
	}
	return s
}

func body(s string) string { return cut(strings.ToValidUTF8(s, "\uFFFD"), MaxBody) }

// page returns the address of a request's page, if on the forge: answers lead nobody elsewhere.
func (c *client) page(address string) string {
	u, err := url.Parse(address)
	base, baseErr := url.Parse(c.requests)
	if err != nil || baseErr != nil || u.Scheme != "https" {
		return ""
	}
	if u.Host != base.Host && !(base.Host == "api.github.com" && u.Host == "github.com") {
		return ""
	}
	return u.String()
}
