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
	"testing/synctest"
	"time"
)

// TestPackEnd: the clock that ends the transfer from a silent remote stands still from the
// end of the pack on, however long it takes to store it, and not before.
func TestPackEnd(t *testing.T) {
	for _, sent := range []string{"whole", "half"} {
		synctest.Test(t, func(t *testing.T) {
			ended := false
			clock := time.AfterFunc(time.Minute, func() { ended = true })
			pack := packEnd{strings.NewReader("pack"), clock}
			n := map[string]int64{"whole": 5, "half": 2}[sent]
			if _, err := io.CopyN(io.Discard, pack, n); err != nil && err != io.EOF {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if synctest.Wait(); ended != (sent == "half") {
				t.Errorf("%s: the transfer was ended: %v", sent, ended)
			}
		})
	}
}

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
	refs := pkt("# service=git-upload-pack\n", "")
	for name, c := range map[string]struct {
		answer string
		branch string
		want   string
		kind   error
	}{
		"symref":       {refs + pkt(id+" HEAD\x00symref=HEAD:refs/heads/dev agent=x\n", id+" refs/heads/dev\n", ""), "", "dev", nil},
		"no symref":    {refs + pkt(id+" HEAD\x00agent=x\n", id+" refs/heads/a\n", id+" refs/heads/master\n", ""), "", "master", nil},
		"detached":     {refs + pkt(id+" HEAD\x00agent=x\n", id+" refs/tags/v1\n", ""), "", "HEAD", nil},
		"odd name":     {refs + pkt(id+" HEAD\x00symref=HEAD:refs/heads/../x agent=x\n", ""), "", "HEAD", nil},
		"branch":       {refs + pkt(id+" HEAD\x00symref=HEAD:refs/heads/dev agent=x\n", id+" refs/heads/x\n", ""), "x", "x", nil},
		"empty":        {refs + pkt(strings.Repeat("0", 40)+" capabilities^{}\x00agent=x\n", ""), "", "", ErrEmptyRepository},
		"other branch": {refs + pkt(id+" refs/heads/a\x00agent=x\n", ""), "b", "", ErrBranchMissing},
		"version 2":    {refs + pkt("version 2\n", "ls-refs=unborn\n", ""), "", "", ErrUnreachable},
		"an error":     {pkt("ERR no such repository\n"), "", "", ErrUnreachable},
		"a page":       {"<!doctype html><html>", "", "", ErrUnreachable},
		"nothing":      {"", "", "", ErrUnreachable},
		"no ids":       {refs + pkt("xyz HEAD\n"), "", "", ErrUnreachable},
		"cut":          {(refs + pkt(id+" HEAD\n"))[:50], "", "", ErrUnreachable},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, c.answer)
		}))
		head, err := NewSource(Repository{URL: srv.URL + "/x", Branch: c.branch}, Options{Transport: "builtin"}).Tip(context.Background())
		if head.Branch != c.want || !errors.Is(err, c.kind) || err == nil && head.Hash.String() != id {
			t.Errorf("%s: %+v, %v; want %q, %v", name, head, err, c.want, c.kind)
		}
		srv.Close()
	}
}
