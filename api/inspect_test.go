package api

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/rest"
)

// inspected is an answer that is compared with openapi.yaml.
type inspected struct {
	method string
	route  string // as openapi.yaml writes paths
	media  string // without parameters
	status int
	header http.Header
	body   []byte
	cut    bool // body is only its beginning
}

// mediaOf is the media type of an answer; "" for none.
func mediaOf(h http.Header) string {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return media
}

// inspect complains about an answer that openapi.yaml does not describe: its
// media type, and what it is made of.
func inspect(tb testing.TB, a *inspected) {
	tb.Helper()
	at := a.method + " " + a.route
	switch {
	case a.status == http.StatusNotModified && len(a.body) == 0, a.status == http.StatusFound && a.header.Get("Location") != "":
		return
	case a.status == http.StatusPartialContent: // of what is described for 200
		return
	case a.media == "text/html" && a.route != "/api/docs/": // the page of whatever resource (info.description)
		if len(a.body) > 0 && !bytes.HasPrefix(a.body, []byte("<!DOCTYPE html>")) {
			tb.Errorf("%s: not a page: %.80q", at, a.body)
		}
		return
	case a.method == http.MethodOptions && a.status == http.StatusOK:
		inspectJSON(tb, at, newValidator(tb).resolve("#/components/schemas/Options"), a.body)
		return
	}
	v := newValidator(tb)
	op := v.operation(a.route)
	read := a.method == http.MethodGet || a.method == http.MethodHead
	if op == nil || !read {
		if a.status < http.StatusBadRequest {
			tb.Errorf("%s: %d, which openapi.yaml does not describe", at, a.status)
			return
		}
		op = v.operation("/api/") // all have the same errors
	}
	schema := v.response(op, a.status, a.media)
	if schema == nil {
		tb.Errorf("%s: openapi.yaml does not describe %q for status %d", at, a.media, a.status)
		return
	}
	if a.method != http.MethodHead && !a.cut {
		inspectBody(tb, at, schema, itemOf(v, v.response(op, a.status, rest.TypeJSON)), a)
	}
}

// inspectBody looks into a body of the media types that have something to look
// at. item is the schema of the entries of a list, or nil.
func inspectBody(tb testing.TB, at string, schema, item map[string]any, a *inspected) {
	tb.Helper()
	var err error
	switch a.media {
	case rest.TypeJSON:
		inspectJSON(tb, at, schema, a.body)
	case rest.TypeLines:
		for line := range bytes.Lines(a.body) {
			inspectJSON(tb, at, item, line)
		}
	case rest.TypeEvents:
		change := newValidator(tb).resolve("#/components/schemas/Change")
		for event := range strings.SplitSeq(string(a.body), "\n\n") {
			if _, data, ok := strings.Cut(event, "\ndata: "); ok && strings.Contains(event, "event: change\n") {
				inspectJSON(tb, at, change, []byte(data))
			}
		}
	case "text/csv":
		_, err = csv.NewReader(bytes.NewReader(a.body)).ReadAll()
	case "application/zip":
		_, err = zip.NewReader(bytes.NewReader(a.body), int64(len(a.body)))
	case "application/rss+xml", "application/atom+xml", "image/svg+xml":
		d := xml.NewDecoder(bytes.NewReader(a.body))
		for err == nil {
			_, err = d.Token()
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		tb.Errorf("%s: not %s: %v in %.200q", at, a.media, err, a.body)
	}
}

// itemOf is the schema of a list's entries; nil if the schema is not a list's.
func itemOf(v *validator, schema map[string]any) map[string]any {
	if ref, ok := schema["$ref"].(string); ok {
		return itemOf(v, v.resolve(ref))
	}
	if item, ok := schema["items"].(map[string]any); ok {
		return item
	}
	properties, _ := schema["properties"].(map[string]any)
	results, _ := properties["results"].(map[string]any)
	if item, ok := results["items"].(map[string]any); ok {
		return item
	}
	parts, _ := schema["allOf"].([]any)
	for _, part := range parts {
		if item := itemOf(v, part.(map[string]any)); item != nil {
			return item
		}
	}
	return nil
}

// inspectJSON compares a JSON value with a schema.
func inspectJSON(tb testing.TB, at string, schema map[string]any, body []byte) {
	tb.Helper()
	if schema == nil {
		tb.Errorf("%s: openapi.yaml does not describe %.200s", at, body)
		return
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		tb.Errorf("%s: not JSON: %v in %.200q", at, err, body)
		return
	}
	v := newValidator(tb)
	v.check("$", schema, value)
	for _, p := range v.problems {
		tb.Errorf("%s: %s", at, p)
	}
}
