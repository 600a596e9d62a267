package api

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/repoglot/repoglot/api/signin"
)

// fakeProvider is a provider that checks what it is sent: GitHub, GitLab, Gitea and an issuer of
// OpenID Connect at one address.
type fakeProvider struct {
	t           *testing.T
	key, signer *ecdsa.PrivateKey // signer signs, key is what it says that it signs with
	url         string

	mu      sync.Mutex
	user    map[string]any    // what /user and the claims say of who signs in
	public  map[string]any    // what strangers are told
	answers map[string]string // of other addresses of the API
	grants  map[string]grant  // by code
	status  int               // of every answer, if it is not 0
	token   string            // the answer of the token endpoint, if it is not empty
	claims  map[string]any    // of the ID token, over the right ones
	asked   []string
	tokens  int
}

type grant struct{ challenge, redirect, nonce string }

const fakeID, fakeSecret, fakeToken = "client", "client-secret", "token-of-the-person"

func newFakeProvider(t *testing.T) *fakeProvider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	f := &fakeProvider{t: t, key: key, signer: key, grants: map[string]grant{}, answers: map[string]string{}, user: map[string]any{"id": 7, "login": "Jana", "name": "Jana N"}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// provider is the configuration of a server that uses it.
func (f *fakeProvider) provider(id, kind string, members ...string) *signin.Provider {
	return signin.New(signin.Options{ID: id, Kind: kind, URL: f.url, ClientID: fakeID, Secret: fakeSecret, Members: members})
}

// permit is what a person does there: it returns where the browser is sent back to.
func (f *fakeProvider) permit(address string) (callback string) {
	f.t.Helper()
	u, err := url.Parse(address)
	must(f.t, err)
	q := u.Query()
	if u.Scheme+"://"+u.Host != f.url || q.Get("client_id") != fakeID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || len(q.Get("state")) < 26 {
		f.t.Fatalf("sent to %s", address)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	code := rand.Text()
	f.grants[code] = grant{q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("nonce")}
	return q.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
}

func (f *fakeProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := r.URL.RequestURI()
	f.asked = append(f.asked, path)
	say := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	switch known, authorized := f.answers[path], r.Header.Get("Authorization") == "Bearer "+fakeToken; {
	case f.status != 0:
		w.WriteHeader(f.status)
	case path == "/.well-known/openid-configuration":
		say(map[string]any{"issuer": f.url, "authorization_endpoint": f.url + "/authorize", "token_endpoint": f.url + "/token", "jwks_uri": f.url + "/keys", "userinfo_endpoint": f.url + "/userinfo", "id_token_signing_alg_values_supported": []string{"ES256"}})
	case path == "/keys":
		say(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: f.key.Public(), Algorithm: "ES256", Use: "sig", KeyID: "k"}}})
	case path == "/login/oauth/access_token" || path == "/oauth/token" || path == "/token":
		f.exchange(w, r, say)
	case strings.HasPrefix(path, "/api/v1/users/") && f.public != nil && r.Header.Get("Authorization") == "":
		say(f.public)
	case !authorized:
		w.WriteHeader(http.StatusUnauthorized)
	case path == "/api/v3/user" || path == "/api/v4/user" || path == "/api/v1/user" || path == "/userinfo":
		say(f.user)
	case known != "":
		_, _ = fmt.Fprint(w, known)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// exchange gives a token for a code.
func (f *fakeProvider) exchange(w http.ResponseWriter, r *http.Request, say func(any)) {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	g, known := f.grants[r.FormValue("code")]
	if id != fakeID || secret != fakeSecret || !known || g.redirect != r.FormValue("redirect_uri") || g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	delete(f.grants, r.FormValue("code"))
	f.tokens++
	if f.token != "" {
		_, _ = fmt.Fprint(w, f.token)
		return
	}
	answer := map[string]any{"access_token": fakeToken, "token_type": "bearer"}
	if r.URL.Path == "/token" {
		claims := map[string]any{"iss": f.url, "aud": fakeID, "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(), "nonce": g.nonce}
		for _, more := range []map[string]any{f.user, f.claims} {
			for name, value := range more {
				claims[name] = value
			}
		}
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: f.signer, KeyID: "k"}}, nil)
		must(f.t, err)
		answer["id_token"], err = jwt.Signed(signer).Claims(claims).Serialize()
		must(f.t, err)
	}
	say(answer)
}
