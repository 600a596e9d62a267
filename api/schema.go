package api

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

// schema is the description with the program's version, in both languages.
type schema struct {
	yaml []byte
	json func() ([]byte, error)
	page func() ([]byte, error)
}

func newSchema(version string) schema {
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
	return schema{yaml: text, json: data, page: sync.OnceValues(func() ([]byte, error) {
		description, err := data()
		if err != nil {
			return nil, err
		}
		return page.Docs(description)
	})}
}

// getDocs answers the description as a page.
func (s *Server) getDocs(context.Context, *store.Snapshot, *rest.Request) (any, error) {
	body, err := s.schema.page()
	if err != nil {
		return nil, err
	}
	return &rest.Document{ContentType: rest.TypeHTML, Body: body}, nil
}

// getSchema answers YAML, which people read, unless the client asks for JSON by
// format=json or by an Accept that names application/json.
func (s *Server) getSchema(_ context.Context, _ *store.Snapshot, r *rest.Request) (any, error) {
	accept := r.HTTP.Header.Get("Accept")
	if r.Representation.Format != "json" && !strings.Contains(accept, rest.TypeJSON) {
		return &rest.Document{ContentType: "application/yaml", Body: s.schema.yaml}, nil
	}
	body, err := s.schema.json()
	if err != nil {
		return nil, err
	}
	return &rest.Document{ContentType: rest.TypeJSON, Body: body}, nil
}
