package api

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// BenchmarkGet measures whole requests through the handler over SQLite, a
// translation of 50,000 units with an entry each. Run it with
//
//	go test ./api -run '^$' -bench Get
func BenchmarkGet(b *testing.B) {
	const units = 50_000
	w := bigWorld(b, units)
	s := serve(w, Options{Logger: slog.New(slog.DiscardHandler)})
	const translation = "/api/translations/big/big/cs/"
	for _, tc := range []struct{ name, target string }{
		{"translation", translation},
		{"units/page_size=50/page=1", translation + "units/?page_size=50"},
		{"units/page_size=50/page=500", translation + "units/?page_size=50&page=500"},
		{"units/page_size=50/page=1000", translation + "units/?page_size=50&page=1000"},
		{"units/page_size=1000/page=1", translation + "units/?page_size=1000"},
		{"changes/page_size=50/page=1", translation + "changes/?page_size=50"},
		{"changes/page_size=50/page=1000", translation + "changes/?page_size=50&page=1000"},
		{"changes/after_id", fmt.Sprintf("%schanges/?after_id=%d", translation, 2*units-10)},
		{"unit", "/api/units/268460000/"},
		{"change", "/api/changes/75000/"},
	} {
		b.Run(fmt.Sprintf("%s/units=%d", tc.name, units), func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, tc.target, nil)
			b.ReportAllocs()
			for b.Loop() {
				rec := httptest.NewRecorder()
				s.ServeHTTP(rec, r)
				if rec.Code != http.StatusOK {
					b.Fatalf("%d %s", rec.Code, rec.Body)
				}
				b.SetBytes(int64(rec.Body.Len()))
			}
		})
	}
}

// BenchmarkCold measures pages that are not cached, over HTTP on 8 connections,
// and the processor time of each, including the client's. Run it with
//
//	go test ./api -run '^$' -bench Cold
func BenchmarkCold(b *testing.B) {
	const units, connections = 50_000, 8
	w := bigWorld(b, units)
	s := serve(w, Options{Logger: slog.New(slog.DiscardHandler), CacheBytes: 64 << 20})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	server := &http.Server{Handler: s}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	var asked atomic.Int64
	for _, list := range []string{"/api/translations/big/big/cs/units/", "/api/units/", "/api/translations/big/big/cs/changes/"} {
		b.Run(list, func(b *testing.B) {
			var wg sync.WaitGroup
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			before := cpuTime()
			b.ResetTimer()
			for range connections {
				wg.Go(func() {
					conn, err := net.Dial("tcp", l.Addr().String())
					if err != nil {
						b.Error(err)
						return
					}
					defer conn.Close()
					in := bufio.NewReaderSize(conn, 64<<10)
					for left.Add(-1) >= 0 {
						n := asked.Add(1)
						_, _ = fmt.Fprintf(conn, "GET %s?page_size=50&page=%d&nothing=%d HTTP/1.1\r\nHost: %s\r\n\r\n", list, n*17%(units/50)+1, n, l.Addr())
						resp, err := http.ReadResponse(in, nil)
						if err != nil || resp.StatusCode != http.StatusOK {
							b.Error(resp, err)
							return
						}
						if _, err = io.Copy(io.Discard, resp.Body); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// cpuTime is what the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
