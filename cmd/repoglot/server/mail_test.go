package server

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// postbox is an SMTP server that keeps mails with their envelopes.
type postbox struct {
	mails chan [2]string
	to    string
}

func (p *postbox) NewSession(*smtp.Conn) (smtp.Session, error) { return p, nil }
func (*postbox) Reset()                                        {}
func (*postbox) Logout() error                                 { return nil }
func (*postbox) Mail(string, *smtp.MailOptions) error          { return nil }

func (p *postbox) Rcpt(to string, _ *smtp.RcptOptions) error {
	p.to += to
	return nil
}

func (p *postbox) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	p.mails <- [2]string{p.to, string(text)}
	return err
}

// TestSilentMail: a mail to a server that accepts connections and says nothing ends with its context.
func TestSilentMail(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	ctx, cancel := context.WithCancelCause(t.Context())
	silent := errors.New("it said nothing")
	go func() {
		if _, err := listener.Accept(); err == nil {
			cancel(silent)
		}
	}()
	c := &config.SMTP{Address: listener.Addr().String(), From: "l10n@example.org", TLS: "none"}
	if err := sendMail(ctx, c, "https://l10n.example.org", "jana@example.org", "1.cs.7", &web.Mail{Subject: "x", Text: "x"}); err == nil || context.Cause(ctx) != silent {
		t.Errorf("%v, %v", err, context.Cause(ctx))
	}
}

// TestMail: a real server gets a digest with both parts and one-click unsubscription, and no
// text of a repository or an account makes a header.
func TestMail(t *testing.T) {
	t.Parallel()
	box := &postbox{mails: make(chan [2]string, 1)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := smtp.NewServer(box)
	server.Domain = "localhost"
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	c := &config.SMTP{Address: listener.Addr().String(), From: "l10n@example.org", TLS: "none"}
	d := &web.Mail{
		Subject: "Neues auf Tschechisch: Dvě\r\nBcc: evil@example.net", Text: "Texte, die warten\n\n- Dvě\n.\n" + strings.Repeat("x", 2000) + "\n",
		HTML: "<p>Dvě</p>", Stop: "https://l10n.example.org/unfollow/ABCDEFGHIJKLMNOPQRSTUVWXYZ/",
	}
	must(t, sendMail(t.Context(), c, "https://l10n.example.org", "jana@example.org", "1.cs.7", d))
	got := <-box.mails
	if got[0] != "jana@example.org" {
		t.Errorf("sent to %s", got[0])
	}
	m, err := mail.ReadMessage(strings.NewReader(got[1]))
	must(t, err)
	for name, want := range map[string]string{
		"From": "<l10n@example.org>", "To": "<jana@example.org>", "Message-Id": "<1.cs.7@l10n.example.org>", "Bcc": "",
		"List-Unsubscribe": "<" + d.Stop + ">", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || !strings.HasPrefix(subject, "Neues auf Tschechisch: Dvě") {
		t.Errorf("the subject: %q, %v", subject, err)
	}
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s, %v", kind, err)
	}
	parts := multipart.NewReader(m.Body, parameters["boundary"])
	for _, want := range [][2]string{{"text/plain", d.Text}, {"text/html", d.HTML}} {
		part, err := parts.NextRawPart()
		must(t, err)
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type")); err != nil || kind != want[0] || strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")) != strings.TrimSpace(want[1]) {
			t.Errorf("%s: %q, %v", kind, text, err)
		}
	}
	if _, err := parts.NextRawPart(); err != io.EOF {
		t.Errorf("more parts: %v", err)
	}
	c.TLS = "starttls"
	if err := sendMail(t.Context(), c, "https://l10n.example.org", "jana@example.org", "1.cs.8", d); err == nil {
		t.Error("it is sent without encryption")
	}
	c.TLS = "none"
	for _, to := range []string{"jana@example.org\r\nBcc: evil@example.net", "no address"} {
		if err := sendMail(t.Context(), c, "https://l10n.example.org", to, "1.cs.9", d); err == nil {
			t.Errorf("sent to %q", to)
		}
	}
}
