package derive

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	pgpecdsa "github.com/ProtonMail/go-crypto/openpgp/ecdsa"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"
)

// Signer signs commits. It may be used by several goroutines. The same commit always
// gets the same signature: a branch with nothing new keeps its commits.
type Signer interface {
	// Sign returns the armoured signature of a commit without one.
	Sign(commit []byte, at time.Time) (string, error)
}

var errRandom = errors.New("a key of this kind (DSA, or ECDSA of another curve than NIST's) makes another signature each time: use one of Ed25519 or RSA")

var errPassphrase = errors.New("the key has a passphrase, which nobody can be asked for: use a key without one")

// ParseSigner reads a private key without a passphrase: one of SSH (OpenSSH or PEM) or
// an armoured one of OpenPGP. Errors do not have the key.
func ParseSigner(key string) (Signer, error) {
	if strings.Contains(key, "BEGIN PGP PRIVATE KEY BLOCK") {
		return parsePGP(key)
	}
	signer, err := ssh.ParsePrivateKey([]byte(key))
	switch {
	case errors.As(err, new(*ssh.PassphraseMissingError)):
		return nil, fmt.Errorf("signing key: %w", errPassphrase)
	case err != nil:
		return nil, errors.New("signing key: it is neither a private key of SSH nor an armoured one of OpenPGP")
	case signer.PublicKey().Type() == "ssh-dss": // DSA
		return nil, fmt.Errorf("signing key: %w", errRandom)
	}
	return sshSigner{signer}, nil
}

// sshSigner makes signatures in OpenSSH's format (PROTOCOL.sshsig).
type sshSigner struct{ key ssh.Signer }

const (
	sshMagic     = "SSHSIG"
	sshNamespace = "git"
	sshHash      = "sha512"
)

// Sign signs for the namespace git. Without random numbers ECDSA takes those of RFC 6979.
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
		signature, err = algorithms.SignWithAlgorithm(nil, signed, ssh.KeyAlgoRSASHA512)
	} else {
		signature, err = s.key.Sign(nil, signed)
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
	keys := []*packet.PrivateKey{list[0].PrivateKey}
	for _, sub := range list[0].Subkeys { // those that may sign
		if sub.PrivateKey != nil && sub.Sig.FlagsValid && sub.Sig.FlagSign {
			keys = append(keys, sub.PrivateKey)
		}
	}
	for _, key := range keys {
		if err := deterministic(key); err != nil {
			return nil, fmt.Errorf("signing key: %w", err)
		}
	}
	return pgpSigner{list[0]}, nil
}

// deterministic has a key of ECDSA sign without random numbers; an error says that it cannot.
func deterministic(key *packet.PrivateKey) error {
	private, ok := key.PrivateKey.(*pgpecdsa.PrivateKey)
	switch {
	case key.PubKeyAlgo == packet.PubKeyAlgoDSA:
		return errRandom
	case !ok:
		return nil
	}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		size := (curve.Params().BitSize + 7) / 8
		if (private.D.BitLen()+7)/8 > size {
			continue
		}
		k, err := ecdsa.ParseRawPrivateKey(curve, private.D.FillBytes(make([]byte, size)))
		if err != nil {
			continue
		}
		if point, err := k.PublicKey.Bytes(); err == nil && bytes.Equal(point, private.MarshalPoint()) {
			key.PrivateKey = rfc6979{k}
			return nil
		}
	}
	return errRandom
}

// rfc6979 is a key of ECDSA that takes the random numbers of RFC 6979, whoever asks.
type rfc6979 struct{ *ecdsa.PrivateKey }

// Sign signs a digest.
func (k rfc6979) Sign(_ io.Reader, digest []byte, o crypto.SignerOpts) ([]byte, error) {
	return k.PrivateKey.Sign(nil, digest, o)
}

// Sign makes a detached signature of the time of the commit, or of the first time at which
// the key could sign: edits may be older than the key.
func (s pgpSigner) Sign(commit []byte, at time.Time) (string, error) {
	when, ok := s.when(at)
	if !ok {
		return "", fmt.Errorf("the OpenPGP key %X could not sign at %s: it has expired, or was revoked", s.key.PrimaryKey.Fingerprint, at.UTC().Format(time.DateTime))
	}
	var b bytes.Buffer
	same := false
	err := openpgp.ArmoredDetachSign(&b, s.key, bytes.NewReader(commit), &packet.Config{
		DefaultHash: crypto.SHA512, Time: func() time.Time { return when }, NonDeterministicSignaturesViaNotation: &same,
	})
	return b.String(), err
}

// when returns the first time, from the one given on, at which the key can sign.
func (s pgpSigner) when(at time.Time) (time.Time, bool) {
	times := []time.Time{at, s.key.PrimaryKey.CreationTime}
	if self, _ := s.key.PrimarySelfSignature(); self != nil {
		times = append(times, self.CreationTime)
	}
	for _, sub := range s.key.Subkeys {
		times = append(times, sub.PublicKey.CreationTime, sub.Sig.CreationTime)
	}
	slices.SortFunc(times, time.Time.Compare)
	for _, t := range times {
		if _, ok := s.key.SigningKey(t); ok && !t.Before(at) {
			return t, true
		}
	}
	return time.Time{}, false
}
