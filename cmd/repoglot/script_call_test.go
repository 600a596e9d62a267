package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdCall sends a webhook.
func cmdCall(ts *testscript.TestScript, neg bool, args []string) {
	secret, header := "", http.Header{"Content-Type": {"application/json"}}
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch name, value, _ := strings.Cut(args[1], ":"); args[0] {
		case "-sign":
			secret = args[1]
		case "-H":
			header.Set(name, value)
		default:
			ts.Fatalf("unknown flag %s", args[0])
		}
		args = args[2:]
	}
	need(ts, neg, args, 3, "call [-sign SECRET] [-H NAME:VALUE]... STATUS URL FILE [REGEXP...]")
	body := os.Expand(ts.ReadFile(args[2]), ts.Getenv)
	if secret != "" {
		m := hmac.New(sha256.New, []byte(secret))
		m.Write([]byte(body))
		header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(m.Sum(nil)))
	}
	req, err := http.NewRequest(http.MethodPost, args[1], strings.NewReader(body))
	ts.Check(err)
	req.Header = header
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	ts.Check(err)
	if why := judge(resp, args[0], args[3:]); why != "" {
		ts.Fatalf("POST %s: %s", args[1], why)
	}
}
