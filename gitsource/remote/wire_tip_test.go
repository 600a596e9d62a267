package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTipAnswers: the answers of servers about their refs.
func TestTipAnswers(t *testing.T) {
	id := strings.Repeat("ab", 20)
	pkt := func(lines ...string) string {
		var b strings.Builder
		for _, l := range lines {
			if l == "" {
				b.WriteString("0000")
				continue
			}
			fmt.Fprintf(&b, "%04x%s", len(l)+4, l)
		}
		return b.String()
	}
	v2 := pkt("# service=git-upload-pack\n", "", "version 2\n", "ls-refs=unborn\n", "")
	for name, c := range map[string]struct {
		first, second string
		branch        string
		want          string
		kind          error
	}{
		"version 0":                {pkt("# service=git-upload-pack\n", "", id+" HEAD\x00symref=HEAD:refs/heads/dev agent=x\n", id+" refs/heads/dev\n", ""), "", "", "dev", nil},
		"version 1":                {pkt("# service=git-upload-pack\n", "", "version 1\n", id+" HEAD\x00symref=HEAD:refs/heads/dev\n", id+" refs/heads/dev\n", ""), "", "", "dev", nil},
		"version 0, no symref":     {pkt("", id+" HEAD\x00agent=x\n", id+" refs/heads/a\n", id+" refs/heads/master\n", ""), "", "", "master", nil},
		"version 0, empty":         {pkt("", strings.Repeat("0", 40)+" capabilities^{}\x00agent=x\n", ""), "", "", "", ErrEmptyRepository},
		"version 0, other branch":  {pkt("", id+" refs/heads/a\x00agent=x\n", ""), "", "b", "", ErrBranchMissing},
		"version 2":                {v2, pkt(id+" HEAD symref-target:refs/heads/dev\n", ""), "", "dev", nil},
		"version 2, branch":        {v2, pkt(id+" HEAD symref-target:refs/heads/dev\n", id+" refs/heads/x\n", ""), "x", "x", nil},
		"version 2, detached":      {v2, pkt(id+" HEAD\n", ""), "", "HEAD", nil},
		"version 2, gone":          {v2, pkt(id+" HEAD symref-target:refs/heads/dev\n", ""), "x", "", ErrBranchMissing},
		"version 2, prefix only":   {v2, pkt(id+" HEAD symref-target:refs/heads/dev\n", id+" refs/heads/xyz\n", ""), "x", "", ErrBranchMissing},
		"version 2, empty":         {v2, pkt(""), "", "", ErrEmptyRepository},
		"version 2, odd name":      {v2, pkt(id+" HEAD symref-target:refs/heads/../x\n", ""), "", "HEAD", nil},
		"an error":                 {pkt("ERR no such repository\n"), "", "", "", ErrUnreachable},
		"a page":                   {"<!doctype html><html>", "", "", "", ErrUnreachable},
		"nothing":                  {"", "", "", "", ErrUnreachable},
		"no ids":                   {pkt("xyz HEAD\n"), "", "", "", ErrUnreachable},
		"cut":                      {pkt(id + " HEAD\n")[:20], "", "", "", ErrUnreachable},
		"version 2, then rubbish":  {v2, "rubbish", "", "", ErrUnreachable},
		"version 2, no such thing": {v2, pkt("ERR unknown command\n"), "", "", ErrUnreachable},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodPost {
				_, _ = io.WriteString(w, c.second)
				return
			}
			_, _ = io.WriteString(w, c.first)
		}))
		head, err := NewSource(Repository{URL: srv.URL + "/x", Branch: c.branch}, Options{Transport: "builtin"}).Tip(context.Background())
		if head.Branch != c.want || !errors.Is(err, c.kind) || err == nil && head.Hash.String() != id {
			t.Errorf("%s: %+v, %v; want %q, %v", name, head, err, c.want, c.kind)
		}
		srv.Close()
	}
}
