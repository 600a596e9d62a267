package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repoglot/repoglot/testrepos"
)

// childVar makes the test binary act as repoglot.
const childVar = "RUN_AS_REPOGLOT"

func TestMain(m *testing.M) {
	if killAt := os.Getenv(killAtVar); killAt != "" {
		os.Exit(runMortal(killAt))
	}
	if length := os.Getenv(leaseVar); length != "" {
		os.Exit(runLeased(length))
	}
	if os.Getenv(childVar) != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"repoglot": main})
}

// TestScript runs the scripts in testdata/script against the real program.
// Besides testscript's own commands they have
//
//	repo NAME SCENARIO         make a bare repository; $NAME is its path
//	advance NAME               push its next commit
//	put NAME PATH FILE         push a commit with one file
//	gitserver VAR NAME USER PW serve it over HTTP with a password; $VAR is its URL
//	silent VAR                 take connections and never answer; $VAR is host:port
//	serve NAME ARG...          start repoglot serve ARG...; $NAME is its URL, and
//	                           for a metrics address $NAME_metrics
//	stop NAME [STATUS]         interrupt it, wait; its output is NAME.out, NAME.err
//	httpget [-until] [-token FILE] STATUS URL [REGEXP...]
//	                           GET, perhaps with the token in a file; with -until
//	                           try again until the answer is as wanted
//	call [-sign SECRET] [-H NAME:VALUE]... STATUS URL FILE [REGEXP...]
//	                           POST a file, in which $VAR is replaced, as JSON;
//	                           with -sign as GitHub signs it;
//	logged NAME REGEXP         wait until the server's stderr matches
//	dump FOLDER OUT            the bytes of all files below a folder, such as the
//	                           data directory, one after the other
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			if _, err := exec.LookPath("git"); err != nil && os.Getenv("CI") == "true" {
				return fmt.Errorf("CI=true, and scripts would be skipped: %w", err)
			}
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Values[stageKey{}] = &stage{repos: map[string]*testrepos.Repo{}, servers: map[string]*child{}}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"repo": cmdRepo, "advance": cmdAdvance, "put": cmdPut, "gitserver": cmdGitServer, "silent": cmdSilent,
			"serve": cmdServe, "person": cmdPerson, "stop": cmdStop, "httpget": cmdGet, "call": cmdCall, "logged": cmdLogged, "dump": cmdDump,
		},
	})
}

// stageKey is the key of the stage of a script.
type stageKey struct{}

// stage holds the repositories and servers of one script.
type stage struct {
	repos   map[string]*testrepos.Repo
	servers map[string]*child
}

func onStage(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

func (s *stage) repo(ts *testscript.TestScript, name string) *testrepos.Repo {
	r := s.repos[name]
	if r == nil {
		ts.Fatalf("no repository %s was made", name)
	}
	return r
}

func need(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "repo NAME SCENARIO")
	r, err := testrepos.Create(ts.MkAbs(args[0]+".git"), args[1])
	ts.Check(err)
	onStage(ts).repos[args[0]] = r
	ts.Setenv(args[0], r.Path())
}

func cmdAdvance(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "advance NAME")
	ts.Check(onStage(ts).repo(ts, args[0]).Next())
}

func cmdPut(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "put NAME PATH FILE")
	_, err := onStage(ts).repo(ts, args[0]).Push(testrepos.Change{Files: map[string]string{args[1]: ts.ReadFile(args[2])}})
	ts.Check(err)
}

func cmdGitServer(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 4, "gitserver VAR NAME USER PASSWORD")
	root, name := filepath.Split(onStage(ts).repo(ts, args[1]).Path())
	s := httptest.NewServer(&gitHost{Root: root, User: args[2], Password: args[3]})
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL+"/"+name)
}

// cmdSilent starts a host that never answers.
func cmdSilent(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "silent VAR")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], l.Addr().String())
	var wg sync.WaitGroup
	ts.Defer(func() { _ = l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { _, _ = io.Copy(io.Discard, conn); _ = conn.Close() })
		}
	})
}

// cmdDump writes the bytes of all files below a folder into one.
func cmdDump(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "dump FOLDER OUT")
	var all bytes.Buffer
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all.WriteString(path + "\n")
		all.Write(bytes.ToValidUTF8(data, []byte("?")))
		all.WriteByte('\n')
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), all.Bytes(), 0o600))
}
