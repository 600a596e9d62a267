package derive

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"
)

// Signer signs commits. It may be used by several goroutines.
type Signer interface {
	// Sign returns the armoured signature of a commit without one.
	Sign(commit []byte, at time.Time) (string, error)
	// Key names the key for people: a fingerprint.
	Key() string
}

var errPassphrase = errors.New("the key has a passphrase, which nobody can be asked for: use a key without one")

// ParseSigner reads a private key without a passphrase: one of SSH (OpenSSH or PEM) or
// an armoured one of OpenPGP. Errors do not have the key.
func ParseSigner(key string) (Signer, error) {
	if strings.Contains(key, "BEGIN PGP PRIVATE KEY BLOCK") {
		return parsePGP(key)
	}
	signer, err := ssh.ParsePrivateKey([]byte(key))
	var missing *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &missing):
		return nil, fmt.Errorf("signing key: %w", errPassphrase)
	case err != nil:
		return nil, errors.New("signing key: it is neither a private key of SSH nor an armoured one of OpenPGP")
	}
	return sshSigner{signer}, nil
}

// sshSigner makes signatures in OpenSSH's format (PROTOCOL.sshsig).
type sshSigner struct{ key ssh.Signer }

// Key returns the key's fingerprint as ssh-keygen shows it.
func (s sshSigner) Key() string { return ssh.FingerprintSHA256(s.key.PublicKey()) }

const (
	sshMagic     = "SSHSIG"
	sshNamespace = "git"
	sshHash      = "sha512"
)

// Sign signs for the namespace git.
func (s sshSigner) Sign(commit []byte, _ time.Time) (string, error) {
	sum := sha512.Sum512(commit)
	signed := append([]byte(sshMagic), ssh.Marshal(struct{ Namespace, Reserved, Hash, Sum string }{sshNamespace, "", sshHash, string(sum[:])})...)
	var signature *ssh.Signature
	var err error
	if s.key.PublicKey().Type() == ssh.KeyAlgoRSA {
		algorithms, ok := s.key.(ssh.AlgorithmSigner)
		if !ok {
			return "", errors.New("this RSA key cannot sign with SHA-512")
		}
		signature, err = algorithms.SignWithAlgorithm(rand.Reader, signed, ssh.KeyAlgoRSASHA512)
	} else {
		signature, err = s.key.Sign(rand.Reader, signed)
	}
	if err != nil {
		return "", err
	}
	blob := append([]byte(sshMagic), ssh.Marshal(struct {
		Version                                   uint32
		Key, Namespace, Reserved, Hash, Signature string
	}{1, string(s.key.PublicKey().Marshal()), sshNamespace, "", sshHash, string(ssh.Marshal(signature))})...)
	return string(pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: blob})), nil
}

// pgpSigner makes signatures of OpenPGP.
type pgpSigner struct{ key *openpgp.Entity }

func parsePGP(key string) (Signer, error) {
	list, err := openpgp.ReadArmoredKeyRing(strings.NewReader(key))
	if err != nil || len(list) == 0 || list[0].PrivateKey == nil {
		return nil, errors.New("signing key: no private key of OpenPGP can be read")
	}
	if len(list) > 1 {
		return nil, fmt.Errorf("signing key: there are %d keys, want one", len(list))
	}
	if list[0].PrivateKey.Encrypted {
		return nil, fmt.Errorf("signing key: %w", errPassphrase)
	}
	return pgpSigner{list[0]}, nil
}

// Key returns the fingerprint in hexadecimal.
func (s pgpSigner) Key() string { return fmt.Sprintf("%X", s.key.PrimaryKey.Fingerprint) }

// Sign makes a detached signature of the time of the commit.
func (s pgpSigner) Sign(commit []byte, at time.Time) (string, error) {
	var b bytes.Buffer
	err := openpgp.ArmoredDetachSign(&b, s.key, bytes.NewReader(commit), &packet.Config{
		DefaultHash: crypto.SHA512, Time: func() time.Time { return at },
	})
	return b.String(), err
}
