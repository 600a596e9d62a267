package server

import (
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
	if s.Config.SMTP.Address == "" {
		return nil
	}
	every(ctx, digestInterval, func() { s.sendDue(ctx) })
	return nil
}

func (s *server) sendDue(ctx context.Context) {
	if s.notify.Stopped != nil && s.notify.Stopped() {
		return
	}
	now, err := s.engine.db.Clock(ctx)
	if err == nil {
		err = s.api.Digests(ctx, now, s.base, func(to, id string, d *web.Digest) error { return sendMail(ctx, &s.Config.SMTP, s.base, now, to, id, d) })
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("digests are not made; they are tried again", "error", err)
	}
}

// sendMail sends a digest. Its id is the same when it is sent again.
func sendMail(ctx context.Context, c *config.SMTP, base string, now time.Time, to, id string, d *web.Digest) error {
	m := mail.NewMsg()
	if err := m.From(c.From); err != nil {
		return err
	}
	if err := m.To(to); err != nil {
		return err
	}
	m.Subject(d.Subject)
	m.SetDateWithValue(now)
	host := "repoglot"
	if u, err := url.Parse(base); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	m.SetMessageIDWithValue(id + "@" + host)
	m.SetGenHeader("List-Unsubscribe", "<"+d.Stop+">")
	m.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetBodyString(mail.TypeTextPlain, d.Text)
	m.AddAlternativeString(mail.TypeTextHTML, d.HTML)
	server, port, err := net.SplitHostPort(c.Address)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	options := []mail.Option{mail.WithPort(number), mail.WithTimeout(mailTime)}
	switch c.TLS {
	case "tls":
		options = append(options, mail.WithSSL())
	case "none":
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
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
