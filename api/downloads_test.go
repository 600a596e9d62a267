package api

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

const bigFile = "/api/translations/big/big/cs/file/"

// longBytes are n bytes that no compression makes shorter.
func longBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// longWorld has the component big/big with n strings of a kilobyte, a file of
// size bytes in Czech, and a translation into German whose file is not stored.
func longWorld(tb testing.TB, n, size int) *writer {
	tb.Helper()
	w := newWriter(tb)
	w.Configure([]catalog.Project{{Slug: "big", Settings: projectDefaults("Big")}}, []store.ComponentSpec{
		{Project: "big", Slug: "big", Settings: componentDefaults("Big"), Repo: repoApp, Branch: "main"},
	})
	units := numberedUnits(n)
	for i := range units {
		units[i].Target = fmt.Sprint(i, strings.Repeat(" dlouhý překlad", 64))
	}
	w.Import("big/big", repoApp, "", sourceFile(units), czechFile(units))
	id := w.IDs["big/big"]
	w.Step(id, repoApp, "main", head2, func(ctx context.Context, tx *store.StepTx) error {
		all, err := tx.Translations(ctx, id)
		if err != nil {
			return err
		}
		german := catalog.Translation{ComponentID: id, Language: "de", FileCode: "de", Filename: "po/de.po", Revision: blobID, PluralNumber: 2, PluralFormula: "n != 1"}
		if err := tx.PutTranslation(ctx, &german); err != nil {
			return err
		}
		return tx.PutFile(ctx, store.File{TranslationID: translationOf(all, "cs").ID, Blob: head2, Modified: catalogtest.Now(), Data: longBytes(size)})
	})
	return w
}

// TestLongFile: a file that is not held in memory is sent like any other.
func TestLongFile(t *testing.T) {
	t.Parallel()
	data := longBytes(3 << 20)
	s := serve(longWorld(t, 1, len(data)), Options{CacheBytes: 64 << 20, TempDir: t.TempDir()})
	rec := call(t, s, http.MethodGet, bigFile)
	etag, modified := rec.Header().Get("ETag"), rec.Header().Get("Last-Modified")
	if rec.Code != 200 || !bytes.Equal(rec.Body.Bytes(), data) || etag == "" || modified != catalogtest.Now().UTC().Format(http.TimeFormat) || rec.Header().Get("Content-Type") != rest.TypePO {
		t.Fatalf("%d %v, %d bytes", rec.Code, rec.Header(), rec.Body.Len())
	}
	for _, tc := range []struct {
		header []string
		status int
		body   []byte
	}{
		{[]string{"Range", "bytes=5-9"}, 206, data[5:10]},
		{[]string{"Range", "bytes=2097152-"}, 206, data[2<<20:]},
		{[]string{"Range", "bytes=5-9", "If-Range", etag}, 206, data[5:10]},
		{[]string{"Range", "bytes=5-9", "If-Range", `"other"`}, 200, data},
		{[]string{"Range", "bytes=99999999-"}, 416, []byte(`{"detail":"The file has no such part."}`)},
		{[]string{"If-None-Match", etag}, 304, nil},
		{[]string{"If-Modified-Since", modified}, 200, data},
		{[]string{"If-Match", etag}, 200, data},
		{[]string{"If-Match", `"other"`}, 412, []byte(`{"detail":"The object has changed since you read it: read it again."}`)},
	} {
		rec := call(t, s, http.MethodGet, bigFile, tc.header...)
		if rec.Code != tc.status || oldForm(rec.Body.String()) != string(tc.body) {
			t.Errorf("%v: %d, %d bytes", tc.header, rec.Code, rec.Body.Len())
		}
	}
	head := call(t, s, http.MethodHead, bigFile)
	if head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("ETag") != etag || head.Header().Get("Accept-Ranges") != "bytes" {
		t.Errorf("HEAD: %d %v", head.Code, head.Header())
	}
	zipped := call(t, s, http.MethodGet, bigFile, "Accept-Encoding", "gzip")
	if plain := decoded(t, "gzip", zipped.Body.Bytes()); !bytes.Equal(plain, data) || zipped.Header().Get("ETag") == etag {
		t.Errorf("gzip: %v, %d bytes", zipped.Header(), len(plain))
	}
}

// TestLongExport: an export that does not fit into memory has the same strings.
func TestLongExport(t *testing.T) {
	t.Parallel()
	const n = 2500
	s := serve(longWorld(t, n, 1), Options{TempDir: t.TempDir()})
	rec := call(t, s, http.MethodGet, bigFile+"?format=csv")
	body := rec.Body.Bytes()
	rows, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
	if err != nil || len(rows) != 1+n || rows[n][1] != fmt.Sprintf("Message %d", n) || len(body) < spoolMemory || rec.Header().Get("ETag") == "" {
		t.Fatalf("%d rows, %v, %v", len(rows), rec.Header(), err)
	}
	wantAnswer(t, s, 206, string(body[1500000:1500100]), bigFile+"?format=csv", "Range", "bytes=1500000-1500099", "If-Range", rec.Header().Get("ETag"))
	found := call(t, s, http.MethodGet, bigFile+"?format=csv&q=source:Message")
	if !bytes.Equal(found.Body.Bytes(), body) || found.Header().Get("ETag") != "" {
		t.Errorf("q: %d bytes, %v", found.Body.Len(), found.Header())
	}
}

// TestSpooledBytes: the bytes of downloads in files are counted until they are sent, and one
// that there is no room for is refused.
func TestSpooledBytes(t *testing.T) {
	t.Parallel()
	s := bare(longWorld(t, 2500, 1), Options{TempDir: t.TempDir()})
	if rec := call(t, s, http.MethodGet, bigFile+"?format=csv"); rec.Code != 200 || s.shares.spooled.Used() != 0 {
		t.Errorf("%d; %d bytes are held by nobody", rec.Code, s.shares.spooled.Used())
	}
	p := limit.NewPool("spooled", 8<<20, 64<<10)
	s.shares.spooled = p
	if rec := call(t, s, http.MethodGet, bigFile+"?format=csv"); rec.Code != 429 || rec.Header().Get("Retry-After") == "" || p.Used() != 0 {
		t.Errorf("over the share: %d %s; %d bytes are held", rec.Code, rec.Body, p.Used())
	}
	p = limit.NewPool("spooled", 16<<20, 16<<20)
	s.shares.spooled = p
	another := p.Lease("another")
	must(t, another.Take(16<<20))
	if rec := call(t, s, http.MethodGet, bigFile+"?format=csv"); rec.Code != 503 || rec.Header().Get("Retry-After") == "" || p.Used() != 16<<20 {
		t.Errorf("without room: %d %s; %d bytes are held", rec.Code, rec.Body, p.Used())
	}
	another.Release()
	if rec := call(t, s, http.MethodGet, bigFile+"?format=csv"); rec.Code != 200 {
		t.Errorf("with room again: %d", rec.Code)
	}
}

// TestPartsAreCounted: the metrics tell parts and refusals from whole answers, and
// a refusal is a problem like any other.
func TestPartsAreCounted(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{CacheBytes: 1 << 20})
	for range 2 { // the second from the cache
		call(t, s, http.MethodGet, csFile, "Range", "bytes=0-1")
		rec := call(t, s, http.MethodGet, csFile, "Range", "bytes=99-")
		if rec.Code != 416 || oldForm(rec.Body.String()) != `{"detail":"The file has no such part."}` || rec.Header().Get("Content-Type") != rest.TypeJSON ||
			rec.Header().Get("Content-Range") != "bytes */11" || rec.Header().Get("Content-Disposition") != "" {
			t.Errorf("416: %v %s", rec.Header(), rec.Body)
		}
	}
	route := "/api/translations/:project/:component/:language/file/"
	for status, want := range map[string]float64{"206": 2, "416": 2, "200": 0} {
		if got := testutil.ToFloat64(s.metrics.requests.WithLabelValues(route, "GET", status)); got != want {
			t.Errorf("%v answers %s, want %v", got, status, want)
		}
	}
}

// TestMissingFile: a file that the store lacks is logged, and an archive lists it.
func TestMissingFile(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := serve(longWorld(t, 1, 10), Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if rec := call(t, s, http.MethodGet, "/api/translations/big/big/de/file/"); rec.Code != 404 || !strings.Contains(rec.Body.String(), "is not stored") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	entries := unzipped(t, call(t, s, http.MethodGet, "/api/projects/big/file/").Body.Bytes())
	if len(entries) != 3 || entries["big/po/cs.po"] != string(longBytes(10)) || !strings.Contains(entries["MISSING.txt"], "\nbig/po/de.po\n") {
		t.Errorf("%q", entries)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 2 || !strings.Contains(log.String(), "file=big/po/de.po") {
		t.Errorf("%s", log.String())
	}
}

func unzipped(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("%v in %.200q", err, data)
	}
	entries := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		must(t, err)
		text, err := io.ReadAll(r)
		must(t, err)
		entries[f.Name] = string(text)
	}
	return entries
}

// TestArchiveConditions: an archive can become older, and times repeat, so they do not count.
func TestArchiveConditions(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{CacheBytes: 1 << 20})
	for range 2 { // the second from the cache
		rec := call(t, s, http.MethodGet, "/api/components/demo/app/file/")
		if got := rec.Header().Get("Last-Modified"); got != catalogtest.Now().Truncate(time.Second).Format(http.TimeFormat) {
			t.Errorf("Last-Modified %s", got)
		}
		body := rec.Body.String()
		wantStatus(t, s, 200, "/api/components/demo/app/file/", "If-Modified-Since", rec.Header().Get("Last-Modified"))
		wantStatus(t, s, 304, "/api/components/demo/app/file/", "If-None-Match", rec.Header().Get("ETag"))
		wantAnswer(t, s, 206, body[2:], "/api/components/demo/app/file/", "Range", "bytes=2-")
	}
}

// TestConvertedArchives: all translations of a component or a project, written in
// a format.
func TestConvertedArchives(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for path, folder := range map[string]string{"/api/components/demo/app/file/": "", "/api/projects/demo/file/": "app/"} {
		for _, format := range []string{"po", "csv", "xliff", "mo", "xlsx"} {
			_, rec := send(s, http.MethodGet, path+"?format=api?format=zip:"+format)
			entries := unzipped(t, rec.Body.Bytes())
			extension := map[string]string{"xliff": "xlf"}[format]
			if extension == "" {
				extension = format
			}
			alone := get(t, s, csFile+"?format="+format)
			if got := entries[folder+"demo-app-cs."+extension]; got != alone || len(entries) != 4 {
				t.Errorf("%s %s: %d files, %d bytes of Czech, alone %d", path, format, len(entries), len(got), len(alone))
			}
		}
	}
}

// TestSlowDownloads: clients that read nothing hold neither a snapshot nor a
// producer, and are dropped; clients that go away leave nothing.
func TestSlowDownloads(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	func() {
		w := longWorld(t, 1, 12<<20)
		s := serve(w, Options{TempDir: t.TempDir()})
		s.streams.timeout = 200 * time.Millisecond
		ts := httptest.NewServer(s)
		defer ts.Close()
		ts.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		var slow []net.Conn
		for i := range 3 { // more than are made at the same time
			conn, err := net.Dial("tcp", ts.Listener.Addr().String())
			must(t, err)
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			path := []string{bigFile, "/api/components/big/big/file/"}[i%2]
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: l10n.example.org\r\n\r\n", path)
			if status, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil || !strings.Contains(status, "200") {
				t.Fatalf("%q %v", status, err)
			}
			slow = append(slow, conn)
		}
		slow[0].Close()
		res, err := http.Get(ts.URL + bigFile)
		must(t, err)
		data, err := io.ReadAll(res.Body)
		if err != nil || len(data) != 12<<20 {
			t.Errorf("while clients are slow: %d bytes, %v", len(data), err)
		}
		res.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		ts.Close() // waits for all that are answered
		for _, conn := range slow[1:] {
			conn.Close()
		}
		if s.shares.downloads.Used() != 0 || s.shares.makers.Used() != 0 {
			t.Errorf("%d downloads, %d producers are left", s.shares.downloads.Used(), s.shares.makers.Used())
		}
		if err := w.DB.Close(); err != nil {
			t.Error(err)
		}
	}()
	goleak.VerifyNone(t, ignore)
}

// TestFollowedFile: a source translation without a file has another
// translation's filename and bytes: once in an archive
// (docs/compatibility.md#source-translation).
func TestFollowedFile(t *testing.T) {
	t.Parallel()
	w := longWorld(t, 1, 10)
	id := w.IDs["big/big"]
	w.Step(id, repoApp, "main", blobID, func(ctx context.Context, tx *store.StepTx) error {
		all, err := tx.Translations(ctx, id)
		if err != nil {
			return err
		}
		source, czech := translationOf(all, "en"), translationOf(all, "cs")
		source.Filename, source.Revision = czech.Filename, head2
		return tx.PutTranslation(ctx, source)
	})
	s := serve(w, Options{})
	own := call(t, s, http.MethodGet, "/api/translations/big/big/cs/file/")
	followed := call(t, s, http.MethodGet, "/api/translations/big/big/en/file/")
	if followed.Code != 200 || followed.Body.String() != string(longBytes(10)) || followed.Header().Get("ETag") != own.Header().Get("ETag") {
		t.Errorf("%d %v %q", followed.Code, followed.Header(), followed.Body)
	}
	body := call(t, s, http.MethodGet, "/api/components/big/big/file/").Body.Bytes()
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	must(t, err)
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "po/cs.po MISSING.txt" {
		t.Errorf("the archive has %s", got)
	}
}
