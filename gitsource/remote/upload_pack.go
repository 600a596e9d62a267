package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// advertisement stands before what versions 0 and 1 tell in info/refs.
const advertisement = "001e# service=git-upload-pack\n0000"

// uploadSettings bound what the program may use and give. Variables of the
// environment are the only configuration besides the mirror's own, which we
// wrote ourselves; git reads uploadpack.packObjectsHook from protected
// configuration alone, of which there is none.
func uploadSettings() []setting {
	return []setting{
		{"core.hooksPath", os.DevNull},
		{"uploadpack.hideRefs", "refs/repoglot"}, // what we keep for ourselves, such as other branches
		{"uploadpack.allowFilter", "false"},
		{"uploadpack.allowRefInWant", "false"},
		{"transfer.advertiseObjectInfo", "false"}, // which tells of any object
		{"pack.threads", "1"},
		{"pack.windowMemory", "64m"},
		{"pack.deltaCacheSize", "32m"},
		{"gc.auto", "0"},
		{"safe.directory", "*"}, // the folder may belong to the user of a container's volume
	}
}

// UploadPack has the program answer one round of the smart protocol from the git
// directory dir: a request that a client posted in a version of the protocol (0
// to 2); nil asks for the body of info/refs. It ends, with what it started, when
// ctx does or when w takes nothing more. The error wraps an *exec.ExitError
// where the program failed.
func (g Git) UploadPack(ctx context.Context, dir string, request []byte, version int, w io.Writer) error {
	args := []string{"upload-pack", "--strict", "--stateless-rpc"}
	if request == nil {
		args = append(args, "--advertise-refs")
		if version != 2 {
			if _, err := io.WriteString(w, advertisement); err != nil {
				return err
			}
		}
	}
	cmd := exec.CommandContext(ctx, g.path, append(args, dir)...)
	cmd.Env = environment(uploadSettings(), "GIT_PROTOCOL=version="+strconv.Itoa(version))
	cmd.Dir = os.TempDir()
	ownGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	stderr := &capped{max: maxStderr}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(request), w, stderr
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return &gitError{stderr: stderr.String(), err: err}
}
