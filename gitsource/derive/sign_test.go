package derive

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

var ed25519PGP = packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}

// signed makes a signed commit and returns its git directory and id.
func signed(t *testing.T, key string) (string, object.Hash) {
	t.Helper()
	signer, err := ParseSigner(key)
	gittest.Must(t, err)
	up := gittest.NewUpstream[object.Hash](t)
	c := commit(up.Push("T", gittest.Files{"a": "x"}), File{Path: "a", Data: []byte("y")})
	c.Signer = signer
	id, err := Write(t.Context(), up.Dir, c)
	gittest.Must(t, err)
	return up.Dir, id
}

// TestSignSSH signs with each kind of key; git verifies the commit, and refuses it for
// another one's key.
func TestSignSSH(t *testing.T) {
	gittest.NeedGit(t)
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("skipped: ssh-keygen is not installed")
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	gittest.Must(t, err)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	gittest.Must(t, err)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	gittest.Must(t, err)
	for name, key := range map[string]crypto.Signer{"ed25519": ed, "ecdsa": ec, "rsa": rs} {
		t.Run(name, func(t *testing.T) {
			block, err := ssh.MarshalPrivateKey(key, "comment")
			gittest.Must(t, err)
			dir, id := signed(t, string(pem.EncodeToMemory(block)))
			if _, again := signed(t, string(pem.EncodeToMemory(block))); again != id {
				t.Errorf("the same commit is signed as %s and as %s", id, again)
			}
			public, err := ssh.NewPublicKey(key.Public())
			gittest.Must(t, err)
			allowed := filepath.Join(t.TempDir(), "allowed")
			gittest.Must(t, os.WriteFile(allowed, append([]byte("noreply@example.org "), ssh.MarshalAuthorizedKey(public)...), 0o600))
			verify := func(commit string) (string, error) {
				cmd := exec.Command("git", "-c", "gpg.ssh.allowedSignersFile="+allowed, "verify-commit", "--raw", commit)
				cmd.Dir, cmd.Env = dir, gittest.Environment()
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			out, err := verify(id.String())
			if err != nil || !strings.Contains(out, `Good "git" signature for noreply@example.org`) || !strings.Contains(out, ssh.FingerprintSHA256(public)) {
				t.Errorf("%v: %s", err, out)
			}
			forged := strings.Replace(gittest.RunGit(t, dir, "cat-file", "commit", id.String()), "Translate", "Forged", 1)
			bad := strings.TrimSpace(string(gittest.PipeGit(t, dir, strings.NewReader(forged), "hash-object", "-t", "commit", "-w", "--stdin")))
			if out, err := verify(bad); err == nil {
				t.Errorf("a changed commit is verified: %s", out)
			}
		})
	}
}

// TestSignPGP signs with keys of OpenPGP of each kind, before and after there was a key;
// gpg verifies them.
func TestSignPGP(t *testing.T) {
	gittest.NeedGit(t)
	if _, err := exec.LookPath("gpg"); err != nil {
		t.Skip("skipped: gpg is not installed")
	}
	for name, config := range map[string]packet.Config{
		"eddsa": {Algorithm: packet.PubKeyAlgoEdDSA},
		"rsa":   {Algorithm: packet.PubKeyAlgoRSA, RSABits: 2048},
		"P-256": {Algorithm: packet.PubKeyAlgoECDSA, Curve: packet.CurveNistP256},
		"P-384": {Algorithm: packet.PubKeyAlgoECDSA, Curve: packet.CurveNistP384},
		"P-521": {Algorithm: packet.PubKeyAlgoECDSA, Curve: packet.CurveNistP521},
	} {
		for age, made := range map[string]time.Duration{"older": -time.Hour, "newer": 24 * time.Hour} {
			t.Run(name+" "+age, func(t *testing.T) {
				private, public := newPGP(t, "", config, jana.When.Add(made))
				dir, id := signed(t, private)
				if _, again := signed(t, private); again != id {
					t.Errorf("the same commit is signed as %s and as %s", id, again)
				}
				home := filepath.Join(t.TempDir(), "g")
				gittest.Must(t, os.Mkdir(home, 0o700))
				env := append(gittest.Environment(), "GNUPGHOME="+home)
				run := func(in string, name string, args ...string) string {
					cmd := exec.Command(name, args...)
					cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(in)
					out, err := cmd.CombinedOutput()
					if err != nil {
						t.Fatalf("%s: %v: %s", name, err, out)
					}
					return string(out)
				}
				run(public, "gpg", "--batch", "--no-autostart", "--quiet", "--import")
				if out := run("", "git", "verify-commit", "--raw", id.String()); !strings.Contains(out, "GOODSIG") {
					t.Errorf("git says %s", out)
				}
			})
		}
	}
}

// TestParseSignerDSA: a key that cannot sign the same commit in the same way is refused.
func TestParseSignerDSA(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "dsa", "-m", "PEM", "-N", "", "-f", file).CombinedOutput(); err != nil {
		t.Skipf("skipped: no ssh-keygen that makes keys of DSA: %v: %s", err, out)
	}
	key, err := os.ReadFile(file)
	gittest.Must(t, err)
	if _, err := ParseSigner(string(key)); err == nil || !strings.Contains(err.Error(), "another signature each time") {
		t.Error(err)
	}
}

// TestSignExpired: a key that had expired when the texts were written cannot sign them.
func TestSignExpired(t *testing.T) {
	private, _ := newPGP(t, "", packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, KeyLifetimeSecs: 60}, jana.When.Add(-time.Hour))
	signer, err := ParseSigner(private)
	gittest.Must(t, err)
	if _, err := signer.Sign([]byte("x"), jana.When); err == nil || !strings.Contains(err.Error(), "it has expired") {
		t.Error(err)
	}
}

// newPGP returns a key of OpenPGP, private and public, that was made at a time.
func newPGP(t *testing.T, passphrase string, config packet.Config, made time.Time) (private, public string) {
	t.Helper()
	config.Time, config.DefaultHash = func() time.Time { return made }, crypto.SHA512
	entity, err := openpgp.NewEntity("repoglot", "", "noreply@example.org", &config)
	gittest.Must(t, err)
	if passphrase != "" {
		gittest.Must(t, entity.EncryptPrivateKeys([]byte(passphrase), &config))
	}
	armoured := func(kind string, write func(b *bytes.Buffer) error) string {
		var raw, text bytes.Buffer
		gittest.Must(t, write(&raw))
		w, err := armor.Encode(&text, kind, nil)
		gittest.Must(t, err)
		_, err = w.Write(raw.Bytes())
		gittest.Must(t, err)
		gittest.Must(t, w.Close())
		return text.String()
	}
	private = armoured(openpgp.PrivateKeyType, func(b *bytes.Buffer) error {
		if passphrase != "" {
			return entity.SerializePrivateWithoutSigning(b, &config)
		}
		return entity.SerializePrivate(b, &config)
	})
	return private, armoured(openpgp.PublicKeyType, func(b *bytes.Buffer) error { return entity.Serialize(b) })
}

// TestParseSigner reads keys that cannot be used; errors do not show them.
func TestParseSigner(t *testing.T) {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	gittest.Must(t, err)
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(ed, "", []byte("secret"))
	gittest.Must(t, err)
	private, public := newPGP(t, "secret", ed25519PGP, jana.When)
	brainpool, _ := newPGP(t, "", packet.Config{Algorithm: packet.PubKeyAlgoECDSA, Curve: packet.CurveBrainpoolP256}, jana.When)
	for name, tt := range map[string]struct{ key, want string }{
		"nothing":            {"", "neither a private key"},
		"SSH passphrase":     {string(pem.EncodeToMemory(locked)), "has a passphrase"},
		"OpenPGP passphrase": {private, "has a passphrase"},
		"a public key":       {strings.ReplaceAll(public, "PUBLIC", "PRIVATE"), "no private key of OpenPGP"},
		"OpenPGP nonsense":   {"-----BEGIN PGP PRIVATE KEY BLOCK-----\nc2VjcmV0\n", "no private key of OpenPGP"},
		"ECDSA of brainpool": {brainpool, "makes another signature each time"},
		"SSH nonsense":       {"-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----", "neither a private key"},
	} {
		_, err := ParseSigner(tt.key)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
