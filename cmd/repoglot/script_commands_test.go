package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// patience bounds the wait for an event that should come at once; pause is the time
// between two tries.
const (
	patience = 2 * time.Minute
	pause    = 20 * time.Millisecond
)

// child is a running repoglot serve.
type child struct {
	cmd      *exec.Cmd
	out, err *output
	ended    chan error
}

// output is the output of a child.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns the output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// until calls ok until it returns true; false after patience.
func until(ok func() bool) bool {
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

var servesOn = regexp.MustCompile(`(?m)^repoglot serves on (http://[^/]+)/`)

// metricsOn is logged before servesOn is printed.
var metricsOn = regexp.MustCompile(`msg="metrics and profiler" address=(http://[^/]+)/`)

func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "serve NAME ARG...")
	exe, err := os.Executable()
	ts.Check(err)
	c := &child{cmd: exec.Command(exe, append([]string{"serve"}, args[1:]...)...), out: &output{}, err: &output{}, ended: make(chan error, 1)}
	c.cmd.Dir = ts.MkAbs(".")
	c.cmd.Env = []string{childVar + "=1"}
	for _, name := range []string{"HOME", "PATH", "GIT_PW", "HOOK_SECRET", "GOCOVERDIR", "REPOGLOT_LISTEN", "REPOGLOT_METRICS_LISTEN", "REPOGLOT_BASE_URL"} {
		if v := ts.Getenv(name); v != "" {
			c.cmd.Env = append(c.cmd.Env, name+"="+v)
		}
	}
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.err
	ts.Check(c.cmd.Start())
	go func() { c.ended <- c.cmd.Wait() }()
	onStage(ts).servers[args[0]] = c
	ts.Defer(func() {
		if c.cmd.ProcessState == nil {
			_ = c.cmd.Process.Kill() // the script failed
			<-c.ended
		}
		ts.Logf("[%s]\n%s%s", args[0], c.out, c.err)
	})
	var match []string
	var over error
	if !until(func() bool {
		select {
		case over = <-c.ended:
			c.ended <- over
			return true
		default:
		}
		match = servesOn.FindStringSubmatch(c.out.String())
		return match != nil
	}) || match == nil {
		ts.Fatalf("repoglot serve did not start: %v", over)
	}
	ts.Setenv(args[0], match[1])
	if m := metricsOn.FindStringSubmatch(c.err.String()); m != nil {
		ts.Setenv(args[0]+"_metrics", m[1])
	}
}

// cmdPerson signs somebody in, as after the answer of a provider; one who is blocked makes the file blocked.
func cmdPerson(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 4, "person DATA_DIR PROVIDER NAME SUBJECT")
	db, err := store.Open(context.Background(), filepath.Join(ts.MkAbs(args[0]), "repoglot.db"), store.Options{Shared: true})
	ts.Check(err)
	defer db.Close()
	a := catalog.Account{Provider: args[1], Name: args[2], Subject: args[3], AuthorName: strings.ToUpper(args[2])}
	_, _, err = db.Access().SignIn(context.Background(), &a, time.Hour)
	if errors.Is(err, catalog.ErrConflict) {
		ts.Check(os.WriteFile(ts.MkAbs("blocked"), nil, 0o600))
		return
	}
	ts.Check(err)
}

func cmdStop(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "stop NAME [STATUS]")
	c := onStage(ts).servers[args[0]]
	want := 0
	if len(args) > 1 {
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		want = n
	}
	ts.Check(c.cmd.Process.Signal(os.Interrupt))
	select {
	case <-c.ended:
	case <-time.After(patience):
		ts.Fatalf("repoglot serve did not stop")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".out"), []byte(c.out.String()), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".err"), []byte(c.err.String()), 0o600))
	if got := c.cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit status %d, want %d\n%s", got, want, c.err)
	}
}

func cmdLogged(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "logged NAME REGEXP")
	re := regexp.MustCompile(args[1])
	c := onStage(ts).servers[args[0]]
	if !until(func() bool { return re.MatchString(c.err.String()) }) {
		ts.Fatalf("%q was not logged:\n%s", args[1], c.err)
	}
}

func cmdGet(ts *testscript.TestScript, neg bool, args []string) {
	again := len(args) > 0 && args[0] == "-until"
	if again {
		args = args[1:]
	}
	secret := ""
	if len(args) > 1 && args[0] == "-token" {
		secret = strings.TrimSpace(ts.ReadFile(args[1]))
		args = args[2:]
	}
	need(ts, neg, args, 2, "httpget [-until] [-token FILE] STATUS URL [REGEXP...]")
	var why string
	look := func() bool {
		why = get(args[0], args[1], secret, args[2:])
		return why == "" || !again
	}
	if until(look); why != "" {
		ts.Fatalf("GET %s: %s", args[1], why)
	}
}

// get returns how an answer differs from the wanted one, "" if it does not. A
// pattern that begins with ! must not match.
func get(status, url, secret string, patterns []string) string {
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequest(http.MethodGet, url, http.NoBody)
	if err != nil {
		return err.Error()
	}
	if secret != "" {
		req.Header.Set("Authorization", "Token "+secret)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	return judge(resp, status, patterns)
}

// judge returns how an answer differs from the wanted one.
func judge(resp *http.Response, status string, patterns []string) string {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	if strconv.Itoa(resp.StatusCode) != status {
		return fmt.Sprintf("status %d, want %s: %.500s", resp.StatusCode, status, body)
	}
	for _, p := range patterns {
		pattern, not := strings.CutPrefix(p, "!")
		if regexp.MustCompile(pattern).Match(body) == not {
			return fmt.Sprintf("no match for %q: %.2000s", p, body)
		}
	}
	return ""
}

// cmdCall sends a webhook, or another request with a body.
func cmdCall(ts *testscript.TestScript, neg bool, args []string) {
	secret, method, header := "", http.MethodPost, http.Header{"Content-Type": {"application/json"}}
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch name, value, _ := strings.Cut(args[1], ":"); args[0] {
		case "-sign":
			secret = args[1]
		case "-H":
			header.Set(name, value)
		case "-X":
			method = args[1]
		case "-token":
			header.Set("Authorization", "Token "+strings.TrimSpace(ts.ReadFile(args[1])))
		default:
			ts.Fatalf("unknown flag %s", args[0])
		}
		args = args[2:]
	}
	need(ts, neg, args, 3, "call [-X METHOD] [-token FILE] [-sign SECRET] [-H NAME:VALUE]... STATUS URL FILE [REGEXP...]")
	body := os.Expand(ts.ReadFile(args[2]), ts.Getenv)
	if secret != "" {
		m := hmac.New(sha256.New, []byte(secret))
		m.Write([]byte(body))
		header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(m.Sum(nil)))
	}
	req, err := http.NewRequest(method, args[1], strings.NewReader(body))
	ts.Check(err)
	req.Header = header
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	ts.Check(err)
	if why := judge(resp, args[0], args[3:]); why != "" {
		ts.Fatalf("%s %s: %s", method, args[1], why)
	}
}

var must = gittest.Must
