package remote

import (
	"errors"
	"testing"
)

func TestRemoteValidate(t *testing.T) {
	for _, r := range []Repository{
		{},
		{URL: "--upload-pack=id"},
		{URL: "ext::sh -c id"},
		{URL: "ftp://h/a"},
		{URL: "https:///a"},
		{URL: "ssh://-oProxyCommand=id/a"},
		{URL: "ssh://-x@h/a"},
		{URL: "-h:a"},
		{URL: "https://h"},
		{URL: "a\nb"},
		{URL: "a", Branch: "-x"},
		{URL: "a", Branch: "../x"},
		{URL: "a", Branch: "x..y"},
		{URL: "a", Branch: "x/"},
		{URL: "a", Branch: "x.lock"},
		{URL: "a", Branch: "x y"},
		{URL: "a", Branch: "@{-1}"},
		{URL: "a", Branch: ".x"},
	} {
		if err := r.Validate(); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%q %q: %v, want ErrUnsupported", r.URL, r.Branch, err)
		}
	}
	for _, r := range []Repository{
		{URL: "a"},
		{URL: "/a", Branch: "feature/x"},
		{URL: "https://u:p@h:1/a"},
		{URL: "git@h:a"},
		{URL: "ssh://h/a"},
		{URL: "git://h/a", Branch: "3.13"},
		{URL: "https://h/a", Branch: "ü"},
	} {
		if err := r.Validate(); err != nil {
			t.Errorf("%q %q: %v", r.URL, r.Branch, err)
		}
	}
}
