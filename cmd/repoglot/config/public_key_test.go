package config_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// TestPublicKeyAsWebhookSecret: everybody may know a public key, so whoever sends it as
// the token of a call could pull.
func TestPublicKeyAsWebhookSecret(t *testing.T) {
	const text = `projects:
  - slug: a
    webhook_secret_env: OF_A
    components:
      - {slug: b, repo: r, filemask: "*.po"}
`
	public := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	block := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	for _, k := range []struct{ secret, kind string }{
		{block, "a PEM block"},
		{strings.ReplaceAll(block, "\n", " "), "a PEM block"},
		{"-----BEGIN CERTIFICATE-----\nMIIB", "a PEM block"},
		{"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDME", "a PEM block"},
		{"---- BEGIN SSH2 PUBLIC KEY ----\nAAAA", "a PEM block"},
		{line, "of ssh"},
		{line + " somebody@example.org", "of ssh"},
		{strings.Fields(line)[1], "of ssh"},
		{base64.StdEncoding.EncodeToString(der), "in DER"},
		{"age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p", "of age"},
	} {
		_, err := parse(t, text, "OF_A="+k.secret)
		want := "/etc/repoglot/r.yaml: component a/b: webhook_secret_env: OF_A is a public key (" + k.kind + "), which is no secret: set it to a random text, such as `openssl rand -hex 32` prints, here and at the service"
		if err == nil || err.Error() != want {
			t.Errorf("%.40q:\n%v, want\n%s", k.secret, err, want)
		}
	}
	random := make([]byte, 32)
	for i := range random {
		random[i] = byte(37 * i)
	}
	for _, secret := range []string{hex.EncodeToString(random), base64.StdEncoding.EncodeToString(random), "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "correct horse battery staple", "ssh-ed25519", ""} {
		if _, err := parse(t, text, "OF_A="+secret); err != nil {
			t.Errorf("%q: %v", secret, err)
		}
	}
}
