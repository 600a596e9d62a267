package store

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// certificate makes a certificate for localhost and a file with it.
func certificate(t *testing.T) (*tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, filepath.Join(t.TempDir(), "ca.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// encrypted takes connections of clients that agree to use TLS, as a server does
// (https://www.postgresql.org/docs/15/protocol-flow.html#id-1.10.6.7.12).
func encrypted(certificate *tls.Certificate) func(net.Conn) net.Conn {
	return func(client net.Conn) net.Conn {
		wanted := []byte{0, 0, 0, 8, 4, 210, 22, 47} // SSLRequest
		request := make([]byte, len(wanted))
		if _, err := io.ReadFull(client, request); err != nil || !bytes.Equal(request, wanted) {
			_ = client.Close()
		}
		_, _ = client.Write([]byte{'S'})
		return tls.Server(client, &tls.Config{Certificates: []tls.Certificate{*certificate}})
	}
}

// TestAddress: the server is found by the address, libpq's variables, its service file or
// its password file, or by several of them, and is not trusted if its certificate is not.
func TestAddress(t *testing.T) {
	pgtest.PostgresOnly(t, "it is about its addresses and settings")
	dsn := database(t, filepath.Join(t.TempDir(), "x.db"))
	proof, ca := certificate(t)
	proxy := newProxy(t, dsn, encrypted(proof))
	at, err := url.Parse(proxy.DSN)
	if err != nil {
		t.Fatal(err)
	}
	port, user, name, schema := at.Query().Get("port"), at.User.Username(), strings.Trim(at.Path, "/"), at.Query().Get("search_path")
	if user == "" || schema == "" {
		t.Skip("the server's address does not name them")
	}
	const password = "hunter2" // the server asks for none
	services := write(t, filepath.Join(t.TempDir(), "services"), fmt.Appendf(nil,
		"[ours]\nhost=localhost\nport=%s\nuser=%s\ndbname=%s\nsslmode=verify-full\nsslrootcert=%s\n", port, user, name, ca))
	passwords := write(t, filepath.Join(t.TempDir(), "passwords"), fmt.Appendf(nil, "localhost:%s:*:%s:%s\n", port, user, password))
	options := "-c search_path=" + schema
	parameters := url.Values{"port": {port}, "search_path": {schema}, "sslmode": {"verify-full"}, "sslrootcert": {ca}}
	full := func(host, parameter, value string) string {
		q := url.Values{}
		for name, values := range parameters {
			q[name] = values
		}
		q.Set("host", host)
		q.Set(parameter, value)
		return (&url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Path: "/" + name, RawQuery: q.Encode()}).String()
	}
	for _, tt := range []struct {
		name, address string
		variables     map[string]string
		refused       string
	}{
		{"address", full("localhost", "sslmode", "verify-full"), nil, ""},
		{"two servers", full("127.0.0.1,localhost", "port", "1,"+port), nil, ""},
		{"variables", "postgres://", map[string]string{
			"PGHOST": "localhost", "PGPORT": port, "PGUSER": user, "PGPASSWORD": password, "PGDATABASE": name, "PGSSLMODE": "verify-full", "PGSSLROOTCERT": ca, "PGOPTIONS": options,
		}, ""},
		{"service and password file", "postgres://", map[string]string{"PGSERVICE": "ours", "PGSERVICEFILE": services, "PGPASSFILE": passwords, "PGOPTIONS": options}, ""},
		{"service of the address", "postgresql://?service=ours&search_path=" + schema, map[string]string{"PGSERVICEFILE": services, "PGPASSFILE": passwords}, ""},
		{"unknown certificate", full("localhost", "sslrootcert", "system"), nil, "x509: certificate"},
		{"another host's certificate", full("127.0.0.1", "sslmode", "verify-full"), nil, "x509: cannot validate certificate for 127.0.0.1"},
		{"not encrypted", full("localhost", "sslmode", "disable"), nil, "no connection to PostgreSQL"},
		{"no such service", "postgres://", map[string]string{"PGSERVICE": "theirs", "PGSERVICEFILE": services}, "unable to find service: theirs"},
		{"no such schema", full("localhost", "search_path", "nowhere"), nil, "create it, with CREATE SCHEMA"},
		{"no rights", full("localhost", "role", "pg_monitor"), nil, "no schema of search_path exists that this user may use"},
		{"no such database", full("localhost", "dbname", "nowhere"), nil, `database "nowhere" does not exist: create it`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, value := range tt.variables {
				t.Setenv(name, value)
			}
			db, err := Open(t.Context(), tt.address, sqldb.Options{})
			if err != nil {
				if wantLine(t, err, tt.refused); tt.refused == "" || strings.Contains(err.Error(), password) {
					t.Error(err)
				}
				return
			}
			defer db.Close()
			config := db.sql.Engine.(*sqldb.Postgres).Config
			if tt.refused != "" || config.TLSConfig == nil || config.Password != password {
				t.Errorf("opened; TLS: %v, password %q, want %q", config.TLSConfig != nil, config.Password, tt.refused)
			}
			read(t, db, func(ctx context.Context, s *Snapshot) error {
				var current string
				_, err := s.s.First(ctx, `SELECT current_schema()::TEXT`, nil, &current)
				if current != schema {
					t.Errorf("the schema is %q, want %q", current, schema)
				}
				return err
			})
		})
	}
}

// TestSessionSettings: what the administrator, or the address, sets for sessions changes
// nothing that the code relies on.
func TestSessionSettings(t *testing.T) {
	pgtest.PostgresOnly(t, "it is about its addresses and settings")
	at, err := url.Parse(database(t, filepath.Join(t.TempDir(), "x.db")))
	if err != nil {
		t.Fatal(err)
	}
	q := at.Query()
	q.Set("options", "-c default_transaction_isolation=serializable -c statement_timeout=60000 -c idle_session_timeout=60000 -c standard_conforming_strings=off -c synchronous_commit=off")
	for name, value := range map[string]string{"synchronous_commit": "local", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0", "client_encoding": "LATIN1", "tcp_user_timeout": "1", "jit": "on"} {
		q.Set(name, value)
	}
	at.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	db, err := Open(t.Context(), at.String(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	check := func(ctx context.Context, s *sqldb.Session, isolation, readOnly, idle string) {
		t.Helper()
		for name, want := range map[string]string{
			"transaction_isolation": isolation, "transaction_read_only": readOnly, "idle_in_transaction_session_timeout": idle,
			"synchronous_commit": "on", "lock_timeout": "10s", "client_encoding": "UTF8", "statement_timeout": "0", "idle_session_timeout": "0",
			"standard_conforming_strings": "on", "jit": "off", "plan_cache_mode": "force_generic_plan",
		} {
			var got string
			if _, err := s.First(ctx, `SELECT current_setting($1)`, []any{name}, &got); err != nil || got != want {
				t.Errorf("%s is %q, want %q: %v", name, got, want, err)
			}
		}
	}
	if got := db.sql.Engine.(*sqldb.Postgres).Config.RuntimeParams["tcp_user_timeout"]; got != "10000" {
		t.Errorf("tcp_user_timeout %s", got) // the server ignores it on a socket
	}
	if err := db.write(t.Context(), func(s *sqldb.Session) error {
		check(t.Context(), s, "read committed", "off", "10s")
		return nil
	}); err != nil {
		t.Error(err)
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		check(ctx, s.s, "repeatable read", "on", "10min")
		return nil
	})
}
