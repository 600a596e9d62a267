package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"

	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

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
