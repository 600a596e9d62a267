package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Receiver is who is told of changes.
type Receiver struct {
	// URL is the address, which may have secrets.
	URL string
	// Secret is in base64, as Standard Webhooks has it.
	Secret string `json:"-"`
	// Events are those that it wants, as catalog.ActionsOf has them; empty: all.
	Events []string
	// Projects are the slugs of those that it is told of, their private components too; empty:
	// what is public. Languages are codes; empty: all. Entries of whole components have none.
	Projects, Languages []string
	// Batch is how long changes are collected for one delivery; 0: each has its own.
	Batch time.Duration
	// AllowPrivate permits addresses of this machine and of private networks.
	AllowPrivate bool
}

// Name names the receiver in the database, without secrets.
func (r *Receiver) Name() string {
	return fmt.Sprintf("%.8x", sha256.Sum256([]byte("repoglot receiver\x00"+r.URL)))
}

// host names the receiver in logs.
func (r *Receiver) host() string {
	if u, err := url.Parse(r.URL); err == nil {
		return u.Host
	}
	return ""
}

// wants reports whether the receiver is told of an entry of a component. What a first import
// brings is no news, but that the component came.
func (r *Receiver) wants(c *catalog.Change, of *store.ComponentRow) bool {
	news := c.Action == catalog.ActionCreateComponent || of.Imported && c.ID > of.ImportedChange
	language := cmp.Or(c.Language, c.Event["language"])
	if !news || len(r.Projects) == 0 && of.Settings.Private(&of.Project) || len(r.Projects) > 0 && !slices.Contains(r.Projects, c.Project) ||
		language != "" && len(r.Languages) > 0 && !slices.Contains(r.Languages, language) {
		return false
	}
	return len(r.Events) == 0 || slices.ContainsFunc(r.Events, func(event string) bool {
		actions, conflicts, _ := catalog.ActionsOf(event)
		return slices.Contains(actions, c.Action) || conflicts && c.Event[catalog.EventConflict] != ""
	})
}

// message is an entry as Weblate's webhooks have it (its schema weblate-messaging).
type message struct {
	ChangeID    int64    `json:"change_id"`
	Action      string   `json:"action"`
	Timestamp   string   `json:"timestamp"`
	Target      []string `json:"target,omitempty"`
	Old         []string `json:"old,omitempty"`
	Source      []string `json:"source,omitempty"`
	URL         string   `json:"url"`
	Author      string   `json:"author,omitempty"`
	User        string   `json:"user,omitempty"`
	Project     string   `json:"project"`
	Component   string   `json:"component"`
	Translation string   `json:"translation,omitempty"`
}

// maxText bounds a text of a message, in characters.
const maxText = 10_000

func forms(text string) []string {
	if text == "" {
		return nil
	}
	return catalog.Each(catalog.SplitForms(text), func(form *string) string { return catalog.Clip(*form, maxText) })
}

// newMessage makes the message of an entry. Where an edit ended in a conflict, or a request was
// opened, the action says that.
func newMessage(c *catalog.Change, page func(*catalog.Change) string) message {
	m := message{
		ChangeID: c.ID, Action: c.Action.Name(), Timestamp: c.Timestamp.UTC().Format("2006-01-02T15:04:05.000000Z"),
		Target: forms(c.Target), Old: forms(c.Old), Source: forms(c.Source), Author: c.Username, URL: cmp.Or(c.Event[catalog.EventURL], page(c)),
		Project: c.Project, Component: c.Component, Translation: cmp.Or(c.Language, c.Event["language"]),
	}
	if c.Action.Credited() {
		m.User = c.Username
	}
	switch {
	case c.Event[catalog.EventConflict] != "":
		m.Action = "Edit conflict"
	case c.Action == catalog.ActionPush:
		m.Action = "Request opened"
	case c.UnitID == 0:
		m.Target = forms(cmp.Or(c.Event["message"], c.Event["error"], c.Event["file"]))
	}
	return m
}

// body is what is sent of entries: a list, if they are collected.
func (r *Receiver) body(list []catalog.Change, page func(*catalog.Change) string) ([]byte, error) {
	if r.Batch == 0 {
		return json.Marshal(newMessage(&list[0], page))
	}
	return json.Marshal(catalog.Each(list, func(c *catalog.Change) message { return newMessage(c, page) }))
}

const (
	// deliveryTime bounds a delivery, from the look at the name to the end of the answer.
	deliveryTime = 20 * time.Second
	// maxAnswer is how much of an answer is read, in bytes.
	maxAnswer = 64 << 10
)

// errAddress is the error of an address that the configuration does not allow.
var errAddress = errors.New("the address is of this machine or of a private network: allow_private: true allows it")

// private are the networks beside those that netip knows whose addresses are not of the
// Internet, or stand for others.
var private = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

// dials judges an address that is about to be dialled, after its name was looked up.
func dials(_, address string, _ syscall.RawConn) error {
	at, _ := netip.ParseAddrPort(address) // a malformed one is refused: its zero value is no global address
	ip := at.Addr().Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || slices.ContainsFunc(private, func(network netip.Prefix) bool { return network.Contains(ip) }) {
		return errAddress
	}
	return nil
}

// newClient makes the client of a receiver, which uses no proxy: the address is judged here.
func (r *Receiver) newClient(resolver *net.Resolver) *http.Client {
	dialer := &net.Dialer{Timeout: deliveryTime / 2, Resolver: resolver}
	if !r.AllowPrivate {
		dialer.Control = dials
	}
	return &http.Client{
		Timeout:       deliveryTime,
		Transport:     &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: deliveryTime / 2, MaxResponseHeaderBytes: maxAnswer, MaxIdleConns: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// delivery is a signed body.
type delivery struct {
	id      string
	body    []byte
	skipped int64
	at      time.Time
}

// deliver sends a body, and returns an error without secrets unless the receiver took it.
func (f *follower) deliver(ctx context.Context, d *delivery, agent string) error {
	hook, err := webhook.NewWebhook(f.Secret)
	if err != nil {
		return errors.New("the secret is not base64")
	}
	signature, unsigned := hook.Sign(d.id, d.at, d.body)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.URL, bytes.NewReader(d.body))
	if err != nil || unsigned != nil {
		return errors.New("the address or the secret cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", agent)
	req.Header.Set(webhook.HeaderWebhookID, d.id)
	req.Header.Set(webhook.HeaderWebhookTimestamp, strconv.FormatInt(d.at.Unix(), 10))
	req.Header.Set(webhook.HeaderWebhookSignature, signature)
	if d.skipped > 0 {
		req.Header.Set("Repoglot-Skipped", strconv.FormatInt(d.skipped, 10))
	}
	answer, err := f.client.Do(req)
	if err != nil {
		var network net.Error
		var certificate *tls.CertificateVerificationError
		err = errors.Unwrap(err) // the whole url.Error has the address
		if errors.As(err, &network) || errors.As(err, &certificate) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, http.ErrSchemeMismatch) {
			return err
		}
		return errors.New("the answer is not HTTP") // the error has what was answered, which may repeat the address
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // it was answered
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the answer is %d", answer.StatusCode)
	}
	return nil
}
