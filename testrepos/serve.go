package testrepos

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/revlist"
)

// maxRequest bounds the request of a client.
const maxRequest = 16 << 20

// ServeOptions are the options of Serve. The zero value serves all clients.
type ServeOptions struct {
	// Username and Password, if one is set, are required by basic authentication.
	Username, Password string
	// Hook is called with every request after the check of the password; if it
	// returns true, it has answered itself. Tests use it for faults and to count
	// requests. It may be called from several goroutines.
	Hook func(http.ResponseWriter, *http.Request) bool
}

// Server serves one repository for reading over git's smart HTTP protocol, version
// 0, on a loopback port that the kernel chooses, without shallow and partial clones.
type Server struct {
	// URL is the URL of the repository, without credentials.
	URL string

	dir  string
	opts ServeOptions
	http *http.Server
	done chan struct{}
}

// Serve starts a server that is closed when the test ends.
func (r *Repo) Serve(tb TB, opts ServeOptions) *Server {
	tb.Helper()
	s, err := Serve(r, opts)
	must(tb, err)
	tb.Cleanup(func() { must(tb, s.Close()) })
	return s
}

// Serve starts a server; Close stops it.
func Serve(r *Repo, opts ServeOptions) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve %s: %w", r.Dir, err)
	}
	s := &Server{
		URL: "http://" + l.Addr().String() + "/" + r.scenario.Name + ".git",
		dir: r.Dir, opts: opts, done: make(chan struct{}),
	}
	base := "/" + r.scenario.Name + ".git"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base+"/info/refs", s.infoRefs)
	mux.HandleFunc("POST "+base+"/git-upload-pack", s.uploadPack)
	s.http = &http.Server{Handler: s.authorize(mux), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // always ErrServerClosed or the listener's end; Close reports it
	}()
	return s, nil
}

// Close stops the server and drops its connections.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	if err != nil {
		return fmt.Errorf("close server: %w", err)
	}
	return nil
}

// authorize checks the password and calls the hook.
func (s *Server) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if s.opts.Username != "" || s.opts.Password != "" {
			user, pass, _ := req.BasicAuth()
			if user != s.opts.Username || pass != s.opts.Password {
				w.Header().Set("WWW-Authenticate", `Basic realm="testrepos"`)
				http.Error(w, "wrong user or password", http.StatusUnauthorized)
				return
			}
		}
		if s.opts.Hook != nil && s.opts.Hook(w, req) {
			return
		}
		next.ServeHTTP(w, req)
	})
}

// infoRefs is the reference discovery of gitprotocol-http(5).
func (s *Server) infoRefs(w http.ResponseWriter, req *http.Request) {
	if req.URL.Query().Get("service") != "git-upload-pack" {
		http.Error(w, "only git-upload-pack over smart HTTP is served", http.StatusForbidden)
		return
	}
	refs, err := s.advertised()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
	w.Header().Set("Cache-Control", "no-cache")
	e := pktline.NewEncoder(w)
	_ = errors.Join(e.EncodeString("# service=git-upload-pack\n"), e.Flush(),
		e.EncodeString(refs...), e.Flush()) // the client may be gone
}

// advertised returns the lines of the references, HEAD first; the first line ends
// with a NUL and the capabilities.
func (s *Server) advertised() ([]string, error) {
	g, err := git.PlainOpen(s.dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", s.dir, err)
	}
	caps := "\x00agent=testrepos ofs-delta no-progress"
	var lines []string
	if head, err := g.Storer.Reference(plumbing.HEAD); err == nil {
		caps += " symref=HEAD:" + head.Target().String()
		if ref, err := g.Storer.Reference(head.Target()); err == nil {
			lines = append(lines, ref.Hash().String()+" HEAD")
		}
	}
	iter, err := g.References()
	if err != nil {
		return nil, fmt.Errorf("references: %w", err)
	}
	var refs []*plumbing.Reference
	err = iter.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference {
			refs = append(refs, ref)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("references: %w", err)
	}
	slices.SortFunc(refs, func(a, b *plumbing.Reference) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, ref := range refs {
		lines = append(lines, ref.Hash().String()+" "+ref.Name().String())
	}
	if len(lines) == 0 {
		lines = []string{plumbing.ZeroHash.String() + " capabilities^{}"}
	}
	lines[0] += caps
	for i := range lines {
		lines[i] += "\n"
	}
	return lines, nil
}

// wanted is the request of a client.
type wanted struct {
	wants, haves []plumbing.Hash
	done         bool
}

// uploadPack answers the negotiation and sends the pack, as in pack-protocol(5) for
// a client without multi_ack and side-band.
func (s *Server) uploadPack(w http.ResponseWriter, req *http.Request) {
	body := io.Reader(http.MaxBytesReader(w, req.Body, maxRequest))
	if req.Header.Get("Content-Encoding") == "gzip" {
		gz, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, "body is no gzip", http.StatusBadRequest)
			return
		}
		body = io.LimitReader(gz, maxRequest)
	}
	ask, err := parseWanted(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	g, err := git.PlainOpen(s.dir)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
	w.Header().Set("Cache-Control", "no-cache")
	if err := answer(req.Context(), w, g, ask); err != nil {
		panic(http.ErrAbortHandler) // or the client would take half a pack for a whole one
	}
}

func answer(ctx context.Context, w io.Writer, g *git.Repository, ask wanted) error {
	var common []plumbing.Hash
	for _, h := range ask.haves {
		if g.Storer.HasEncodedObject(h) == nil {
			common = append(common, h)
		}
	}
	reply := "NAK\n"
	if len(common) > 0 {
		reply = "ACK " + common[0].String() + "\n"
	}
	if err := pktline.NewEncoder(w).EncodeString(reply); err != nil || !ask.done {
		return err
	}
	known, err := revlist.Objects(g.Storer, common, nil)
	if err != nil {
		return fmt.Errorf("objects of %v: %w", common, err)
	}
	objects, err := revlist.Objects(g.Storer, ask.wants, known)
	if err != nil {
		return fmt.Errorf("objects of %v: %w", ask.wants, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := packfile.NewEncoder(w, g.Storer, false).Encode(objects, 10); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

func parseWanted(body io.Reader) (wanted, error) {
	var ask wanted
	sc := pktline.NewScanner(body)
	for sc.Scan() {
		words := strings.Fields(string(sc.Bytes()))
		switch {
		case len(words) == 0:
		case words[0] == "done":
			ask.done = true
		case len(words) < 2 || !plumbing.IsHash(words[1]):
			return ask, fmt.Errorf("line %q is not understood", sc.Bytes())
		case words[0] == "want":
			ask.wants = append(ask.wants, plumbing.NewHash(words[1]))
		case words[0] == "have":
			ask.haves = append(ask.haves, plumbing.NewHash(words[1]))
		default:
			return ask, fmt.Errorf("%q is not offered", words[0])
		}
	}
	if err := sc.Err(); err != nil {
		return ask, fmt.Errorf("request: %w", err)
	}
	return ask, nil
}
