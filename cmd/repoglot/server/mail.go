package server

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

const (
	// digestInterval is the time between two looks for digests that are due.
	digestInterval = 5 * time.Minute
	// mailTime bounds the sending of one mail.
	mailTime = time.Minute
)

// sendDigests sends digests that are due until ctx is done, in a cluster where receivers are told.
func (s *server) sendDigests(ctx context.Context) error {
	every(ctx, digestInterval, func() {
		if s.notify.Stopped != nil && s.notify.Stopped() {
			return
		}
		now, err := s.engine.db.Clock(ctx)
		if err == nil {
			err = s.api.Digests(ctx, now)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("digests are not made; they are tried again", "error", err)
		}
	})
	return nil
}

// sendMail sends a mail. Its id is the same when it is sent again.
func sendMail(ctx context.Context, c *config.SMTP, base, to, id string, d *web.Mail) error {
	m := mail.NewMsg()
	server, port, unsplit := net.SplitHostPort(c.Address)
	number, malformed := strconv.Atoi(port)
	at, foreign := url.Parse(base)
	if err := cmp.Or(m.From(c.From), m.To(to), unsplit, malformed, foreign); err != nil {
		return err
	}
	m.Subject(d.Subject)
	m.SetDate()
	m.SetMessageIDWithValue(id + "@" + cmp.Or(at.Hostname(), "repoglot"))
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetBodyString(mail.TypeTextPlain, d.Text)
	if d.Stop != "" {
		m.SetGenHeader("List-Unsubscribe", "<"+d.Stop+">")
		m.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
		m.AddAlternativeString(mail.TypeTextHTML, d.HTML)
	}
	encrypted := map[string]mail.Option{"tls": mail.WithSSL(), "none": mail.WithTLSPolicy(mail.NoTLS)}[c.TLS] // else nil: by STARTTLS, or not at all
	options := []mail.Option{mail.WithPort(number), mail.WithTimeout(mailTime), encrypted}
	if c.User != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(c.User), mail.WithPassword(string(c.Password)))
	}
	client, err := mail.NewClient(server, options...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	return client.DialAndSendWithContext(ctx, m)
}
