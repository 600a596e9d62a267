package config

import (
	"crypto/x509"
	"encoding/base64"
	"regexp"
	"strings"

	"golang.org/x/crypto/ssh"
)

var (
	// publicBlockRule finds the first line of a PEM, PGP or SSH2 block of a public key.
	publicBlockRule = regexp.MustCompile(`-{4,5} ?BEGIN [A-Z0-9 ]*(PUBLIC KEY|CERTIFICATE)`)
	ageRule         = regexp.MustCompile(`(^|\s)age1[02-9ac-hj-np-z]{50,}($|\s)`)
)

// publicKey returns what kind of public key a secret is, or "" for none that can be
// told from a random text: 32 bytes in base64 or hexadecimal digits may be either.
func publicKey(secret string) string {
	if publicBlockRule.MatchString(secret) {
		return "a PEM block"
	}
	if ageRule.MatchString(secret) {
		return "of age"
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(secret)); err == nil {
		return "of ssh"
	}
	der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(secret), ""))
	if err != nil {
		return ""
	}
	if _, err := ssh.ParsePublicKey(der); err == nil {
		return "of ssh"
	}
	if _, err := x509.ParsePKIXPublicKey(der); err == nil {
		return "in DER"
	}
	return ""
}
