package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// distVar names the folder that `make release` has filled; without it the tests of a
// release are skipped.
const distVar = "REPOGLOT_DIST"

func releaseFolder(t *testing.T) string {
	t.Helper()
	dist := os.Getenv(distVar)
	if dist == "" {
		t.Skipf("skipped: %s is not set; make release sets it", distVar)
	}
	return dist
}

// TestReleaseIsComplete: every archive and package is there, with its checksum, and
// every binary with the list of its modules.
func TestReleaseIsComplete(t *testing.T) {
	t.Parallel()
	dist := releaseFolder(t)
	sums, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	must(t, err)
	for _, name := range []string{
		"repoglot_linux_amd64.tar.gz", "repoglot_linux_arm64.tar.gz", "repoglot_darwin_amd64.tar.gz",
		"repoglot_darwin_arm64.tar.gz", "repoglot_windows_amd64.zip", "repoglot_linux_amd64.deb",
		"repoglot_linux_arm64.deb", "repoglot_linux_amd64.rpm", "repoglot_linux_arm64.rpm",
		"repoglot_linux_amd64.cdx.json", "repoglot_windows_amd64.cdx.json",
	} {
		data, err := os.ReadFile(filepath.Join(dist, name))
		must(t, err)
		sum := sha256.Sum256(data)
		if !strings.Contains(string(sums), hex.EncodeToString(sum[:])+"  "+name+"\n") {
			t.Errorf("checksums.txt lacks the checksum of %s", name)
		}
		if strings.HasSuffix(name, ".json") {
			var bom struct {
				BOMFormat  string `json:"bomFormat"`
				Components []struct{ Name, Version string }
			}
			must(t, json.Unmarshal(data, &bom))
			if bom.BOMFormat != "CycloneDX" || len(bom.Components) < 30 {
				t.Errorf("%s: %s with %d components", name, bom.BOMFormat, len(bom.Components))
			}
		}
	}
}

// TestReleaseIsReproducible: the sources make the same bytes in another folder.
func TestReleaseIsReproducible(t *testing.T) {
	t.Parallel()
	releaseFolder(t)
	needPrograms(t, "git", "go")
	list, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files", "-z").Output()
	must(t, err)
	other := t.TempDir()
	for _, name := range strings.Split(strings.Trim(string(list), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join("../..", name))
		must(t, err)
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(other, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(other, name), data, 0o644))
	}
	var sums [2]string
	for i, folder := range []string{"../..", other} {
		binary := filepath.Join(t.TempDir(), "repoglot")
		build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version=v0", "-o", binary, "./cmd/repoglot")
		build.Dir, build.Env = folder, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		data, err := os.ReadFile(binary)
		must(t, err)
		sum := sha256.Sum256(data)
		sums[i] = hex.EncodeToString(sum[:])
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds have the checksums %v", sums)
	}
}

// TestReleaseArchive: the archive of this machine has the binary, licence and man page.
func TestReleaseArchive(t *testing.T) {
	t.Parallel()
	dist := releaseFolder(t)
	needPrograms(t, "tar")
	root := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "tar", "xzf", filepath.Join(dist, "repoglot_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"), "-C", root).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "THIRD-PARTY"} {
		_, err := os.Stat(filepath.Join(root, name))
		must(t, err)
	}
	if out, err = exec.CommandContext(t.Context(), filepath.Join(root, "repoglot"), "version").Output(); err != nil || !strings.HasPrefix(string(out), "repoglot ") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestReleaseDeb: the package for Debian is unpacked, and its program serves. Its unit
// runs the program where the package puts it.
func TestReleaseDeb(t *testing.T) {
	t.Parallel()
	dist := releaseFolder(t)
	needPrograms(t, "dpkg-deb")
	root := t.TempDir()
	deb := filepath.Join(dist, "repoglot_linux_"+runtime.GOARCH+".deb")
	out, err := exec.CommandContext(t.Context(), "dpkg-deb", "-x", deb, root).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"usr/share/man/man1/repoglot.1", "usr/share/bash-completion/completions/repoglot", "usr/share/doc/repoglot/copyright"} {
		_, err := os.Stat(filepath.Join(root, name))
		must(t, err)
	}
	unit, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/repoglot.service"))
	must(t, err)
	if !strings.Contains(string(unit), "ExecStart=/usr/bin/repoglot serve ") {
		t.Errorf("the unit is\n%s", unit)
	}
	serveAndStop(t, filepath.Join(root, "usr/bin/repoglot"))
}

// serveAndStop has a program serve a repository until it answers.
func serveAndStop(t *testing.T, program string) {
	t.Helper()
	repo, err := testrepos.Create(filepath.Join(t.TempDir(), "kettle.git"), "lifecycle")
	must(t, err)
	c := &child{cmd: exec.CommandContext(context.Background(), program, "serve", repo.Path(), "--listen", "127.0.0.1:0", "--data-dir", t.TempDir()), out: &output{}, err: &output{}, ended: make(chan error, 1)}
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.err
	must(t, c.cmd.Start())
	go func() { c.ended <- c.cmd.Wait() }()
	why := "it does not say where it serves"
	until(func() bool {
		match := servesOn.FindStringSubmatch(c.out.String())
		if match != nil {
			why = get("200", match[1]+"/api/translations/kettle/kettle/nb/", "", []string{`"translated":3`})
		}
		return why == ""
	})
	if why != "" {
		t.Errorf("%s: %s\n%s%s", http.MethodGet, why, c.out, c.err)
	}
	must(t, c.cmd.Process.Signal(os.Interrupt))
	if err := <-c.ended; err != nil {
		t.Errorf("repoglot serve: %v\n%s", err, c.err)
	}
}

// TestThirdParty: the licence of every module that is linked is in THIRD-PARTY, which fails
// for one without.
func TestThirdParty(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	cmd := exec.CommandContext(t.Context(), bash, "../../.ci/third-party")
	cmd.Env = append(os.Environ(), "TARGETS="+runtime.GOOS)
	said, err := cmd.Output()
	must(t, err)
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".")
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	modules, err := list.Output()
	must(t, err)
	for _, module := range append(slices.Compact(slices.Sorted(strings.SplitSeq(strings.TrimSpace(string(modules)), "\n"))), "Mozilla Public License", "Copyright") {
		if !strings.Contains(string(said), module) {
			t.Errorf("THIRD-PARTY lacks %s", module)
		}
	}
}
