package testrepos

import (
	"io"
	"net/http"
	"net/http/cgi"
	"os/exec"
)

// GitHost serves the repositories below a folder over git's smart HTTP protocol, with the
// git program (git-http-backend(1)). It is an http.Handler.
type GitHost struct {
	// Root is the folder.
	Root string
	// User and Password must be sent by basic authentication; without them nothing is asked
	// for. A client that has sent a user may push, too.
	User, Password string
}

// ServeHTTP answers git.
func (h GitHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if h.Password != "" && (user == "" || h.User != "" && user != h.User || password != h.Password) {
		w.Header().Set("WWW-Authenticate", `Basic realm="testrepos"`)
		http.Error(w, "wrong user or password", http.StatusUnauthorized)
		return
	}
	git, err := exec.LookPath("git")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	backend := cgi.Handler{Path: git, Args: []string{"http-backend"}, Stderr: io.Discard, Env: []string{
		"GIT_PROJECT_ROOT=" + h.Root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=" + user,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=receive.autogc", "GIT_CONFIG_VALUE_1=false",
	}}
	backend.ServeHTTP(w, r)
}
