package resource

import (
	"context"
	_ "embed" // openapi.yaml
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// openapi is the description of this API, written by hand; a test validates
// every answer of the tests against it.
//
//go:embed openapi.yaml
var openapi string

// Schema is the description with the program's version: as YAML, as JSON and as
// a page.
type Schema struct {
	yaml []byte
	JSON func() ([]byte, error)
	page func() ([]byte, error)
}

// NewSchema makes the description for a version of the program; "" is shown as
// 0.
func NewSchema(version string) Schema {
	if version == "" {
		version = "0"
	}
	text := []byte(strings.Replace(openapi, "version: '0'", "version: "+strconv.Quote(version), 1))
	data := sync.OnceValues(func() ([]byte, error) {
		data, err := yaml.YAMLToJSON(text)
		if err != nil {
			return nil, fmt.Errorf("convert openapi.yaml: %w", err)
		}
		return data, nil
	})
	return Schema{yaml: text, JSON: data, page: sync.OnceValues(func() ([]byte, error) {
		description, err := data()
		if err != nil {
			return nil, err
		}
		return page.Docs(description)
	})}
}

// getDocs answers the description as a page.
func (d Schema) getDocs(context.Context, *store.Snapshot, *rest.Request) (any, error) {
	body, err := d.page()
	if err != nil {
		return nil, err
	}
	return &rest.Document{ContentType: rest.TypeHTML, Body: body}, nil
}

// getSchema answers YAML, which people read, unless the client asks for JSON by
// format=json or by an Accept header that names application/json.
func (d Schema) getSchema(_ context.Context, _ *store.Snapshot, r *rest.Request) (any, error) {
	accept := r.HTTP.Header.Get("Accept")
	if r.Representation.Format != "json" && !strings.Contains(accept, rest.TypeJSON) {
		return &rest.Document{ContentType: "application/yaml", Body: d.yaml}, nil
	}
	body, err := d.JSON()
	if err != nil {
		return nil, err
	}
	return &rest.Document{ContentType: rest.TypeJSON, Body: body}, nil
}
