package object

import (
	"os"
	"path/filepath"
)

// bareConfig is the whole configuration of a mirror. It names no remote, so no
// address and no credential is ever on disk.
const bareConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n"

// Init makes an empty bare repository in gitDir.
func Init(gitDir string) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(gitDir, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(gitDir, "config"), []byte(bareConfig), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(gitDir, "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o600)
}
