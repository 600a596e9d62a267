package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

// attack is what hostile clients do. hold sends what it wants to and returns when the
// server or ctx ends the connection.
type attack struct {
	name    string
	clients int
	hold    func(c net.Conn, n int)
}

// hostile measures the small pages of honest clients, each from its own address, beside
// each attack, from some other addresses, and the memory of the server.
func (r *run) hostile() {
	const (
		strings190 = 190_000
		clients    = 20
		rate       = 5   // small pages a second of each
		limitP99   = 100 // ms
		limitRSS   = 500 // MiB
	)
	s, _ := r.serveGenerated(testrepos.GenSpec{Entries: strings190, Plural: 50, Context: 10, Fuzzy: 20, Untranslated: 7}, largeFiles)
	address := strings.TrimPrefix(s.base, "http://")
	list := slices.DeleteFunc(attacks(address), func(a attack) bool { return !strings.Contains(a.name, r.attack) })
	honest := func() load {
		started := time.Now()
		page := rand.IntN(strings190)
		h := s.hammer(func(conn, n int) string { // another unit each time, so that none is kept
			time.Sleep(time.Until(started.Add(time.Duration(n) * time.Second / rate)))
			return fmt.Sprintf("%sunits/?page_size=1&page=%d", translation, (page+n*clients+conn)%strings190+1)
		})
		h.connections, h.from = clients, func(conn int) net.IP { return net.IPv4(127, 0, 1, byte(1+conn)) }
		return r.load(h, r.lasts/time.Duration(max(len(list), 1)))
	}
	honest() // warms the caches
	alone := honest()
	r.atMost("20 honest clients alone: small page, p99", "ms", inMS(alone.p99), limitP99)
	for _, a := range list {
		attacking, end := context.WithCancel(r.ctx)
		r.Cleanup(end)
		var group sync.WaitGroup
		for i := range a.clients {
			group.Go(func() { a.run(attacking, address, i) })
		}
		beside, rss := honest(), s.rss()
		end()
		group.Wait()
		r.atMost("beside "+a.name+": small page, p99", "ms", inMS(beside.p99), limitP99)
		r.figure("  median, as a ratio to alone", "x", float64(beside.median)/float64(alone.median))
		r.atMost("  memory of the server", "MiB", rss, limitRSS)
	}
}

// attackers is the number of addresses of attackers: together they have all that clients
// share.
const attackers = 4

// run attacks until ctx is done, from one of their addresses.
func (a *attack) run(ctx context.Context, address string, client int) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+client%attackers))}}
	for n := 0; ctx.Err() == nil; n++ {
		c, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			a.hold(c, client<<20|n)
			stop()
			_ = c.Close()
		}
		select { // the server refuses at once what is over a share
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func attacks(host string) []attack {
	var bomb bytes.Buffer
	z, _ := gzip.NewWriterLevel(&bomb, gzip.BestCompression) // the level is valid
	_, _ = z.Write(make([]byte, 4<<20))                      // to memory
	_ = z.Flush()
	held := bomb.Len() // the end of a body can be held back
	_ = z.Close()
	clone := func(c net.Conn, sent int) {
		fmt.Fprintf(c, "POST /git/bench/it/git-upload-pack HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-git-upload-pack-request\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", host, bomb.Len())
		_, _ = c.Write(bomb.Bytes()[:sent])
	}
	get := func(c net.Conn, path, header string) {
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host, header)
	}
	wait := func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); _, _ = io.Copy(io.Discard, c) }
	slowly := func(c net.Conn) {
		buf := make([]byte, 512)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	regexps := func(n int) string {
		terms := make([]string, 30)
		for i := range terms {
			terms[i] = fmt.Sprintf(`r"[a-z]+ x%d_%d$"`, n, i)
		}
		return url.QueryEscape(strings.Join(terms, " OR "))
	}
	return []attack{
		{"200 clones whose bodies inflate and do not end", 200, func(c net.Conn, _ int) { clone(c, held); wait(c) }},
		{"200 clones whose bodies inflate and end", 200, func(c net.Conn, _ int) { clone(c, bomb.Len()); wait(c) }},
		{"150 answers that are not read", 150, func(c net.Conn, n int) {
			get(c, fmt.Sprintf("/api/units/?page_size=10000&x=%d", n), "")
			slowly(c)
		}},
		{"24 searches of 30 regular expressions", 24, func(c net.Conn, n int) {
			get(c, "/api/units/?q="+regexps(n), "Connection: close\r\n")
			wait(c)
		}},
		{"24 searches of 2 regular expressions", 24, func(c net.Conn, n int) {
			get(c, "/api/units/?q="+url.QueryEscape(fmt.Sprintf(`r"[a-z]+ x%d$" OR r"[0-9]+ y%d"`, n, n)), "Connection: close\r\n")
			wait(c)
		}},
		{"16 slow readers of lines", 16, func(c net.Conn, n int) {
			get(c, fmt.Sprintf("/api/units/?format=ndjson&x=%d", n), "")
			slowly(c)
		}},
		{"40 downloads that are not read", 40, func(c net.Conn, n int) {
			get(c, fmt.Sprintf("/api/translations/bench/it/cs/file/?format=csv&x=%d", n), "")
			slowly(c)
		}},
		{"20 webhooks whose bodies do not end", 20, func(c net.Conn, _ int) {
			fmt.Fprintf(c, "POST /hooks/github/ HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", host, 24<<20)
			_, _ = c.Write(make([]byte, 20<<20))
			wait(c)
		}},
		{"600 streams", 600, func(c net.Conn, _ int) {
			get(c, "/api/changes/stream/", "")
			wait(c)
		}},
	}
}
