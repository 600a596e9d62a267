package remote

import (
	"errors"
	"strings"
	"testing"
)

// TestRemoteWords: what a remote says is kept, without its frames.
func TestRemoteWords(t *testing.T) {
	t.Parallel()
	const gitea = "remote: \nremote: error:\nremote: error: Not allowed to push to protected branch main\nremote: error: (ask its owner)\nTo https://h/x.git\n"
	if got := remoteWords(gitea); got != "Not allowed to push to protected branch main; (ask its owner)" {
		t.Errorf("%q", got)
	}
	s := &binarySource{client: client{remote: Repository{URL: "https://h/x.git"}}}
	err := s.describe(errors.New("remote: This repo is archived. You cannot push to it.\nfatal: unable to access 'https://h/x.git/': The requested URL returned error: 403"))
	if !errors.Is(err, ErrAuth) || !strings.Contains(err.Error(), "access is forbidden: This repo is archived. You cannot push to it.") {
		t.Errorf("%v", err)
	}
	if err := s.describe(errors.New("fatal: The requested URL returned error: 403")); !errors.Is(err, ErrAuth) || strings.Contains(err.Error(), "forbidden:") {
		t.Errorf("without words: %v", err)
	}
}
